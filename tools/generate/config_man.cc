// SPDX-License-Identifier: GPL-2.0-or-later
#include "tools/generate/config_man.h"

#include <fmt/format.h>

#include "lib/base/prose.h"
#include "lib/config/options.h"
#include "lib/config/render.h"

namespace rubato {
namespace {

std::string man_option(const Option& option) {
  std::string out = fmt::format(".TP\n.B {}\n{}.\n", roff(option.name), roff(capital(option.help)));
  if (!option.text.empty()) out += roff(option.text) + "\n";
  out += roff(capital(option_facts(option))) + ".\n";
  if (!option.reload_safe) out += "Takes effect when slurmctld starts.\n";
  if (option.words.empty()) return out;
  out += ".RS\n";
  for (const OptionWord& word : option.words) {
    out += fmt::format(".TP\n.B {}\n{}.\n", roff(word.name), roff(capital(word.help)));
  }
  return out + ".RE\n";
}

constexpr const char* kManTop = R"(.\" SPDX-License-Identifier: GPL-2.0-or-later
.\" Written by tools/generate/config_docs from the table in lib/config/options.cc.
.TH rubato.conf 5 "" "Rubato" "Slurm configuration"
.SH NAME
rubato.conf \- configuration of the Rubato plugins of Slurm
.SH DESCRIPTION
.B rubato.conf
is in the folder of
.B slurm.conf
and configures the Rubato plugins of slurmctld.
The mode is
.B observe
if there is no such file, if it has no line
.BR Mode= ,
or if it has an error when slurmctld starts.
.PP
The file is read when slurmctld starts and at
.BR "scontrol reconfigure" .
A file with an error never replaces a valid configuration: slurmctld's log names file, line and word
of every error, and the previous configuration stays in use.
It also stays in use if the file is removed: write
.B Mode=observe
to switch Rubato off.
.B rubato doctor
prints the same errors.
.SH SYNTAX
The syntax is that of
.BR slurm.conf .
A line has one or more pairs
.IR Key = Value .
The case of keys does not matter.
.IP \(bu 2
.B #
begins a comment, also in quotes;
.B \e#
is the character itself.
.IP \(bu 2
A backslash at the end of a line joins the next line to it.
.IP \(bu 2
A value with blanks must be in double quotes.
.IP \(bu 2
.BI Include " FILE"
reads another file here.
A relative name starts at the folder of the file that includes it.
.IP \(bu 2
An option may be set only once in all files together.
A line that begins with
.B GpuType=
or
.B JobType=
describes one type; there may be several such lines.
.IP \(bu 2
Times are seconds, or one of
.IR MM:SS ,
.IR HH:MM:SS ,
.IR D\-HH ,
.I D\-HH:MM
and
.IR D\-HH:MM:SS .
A plain number is seconds, not minutes.
.SH OPTIONS
)";

constexpr const char* kManEnd = R"(.SH EXAMPLES
Show what Rubato would do with the partitions gpu and train:
.PP
.RS
.nf
Mode=observe
ManagedPartitions=gpu,train
.fi
.RE
.PP
Place the jobs of every partition, with two GPU types:
.PP
.RS
.nf
Mode=place
ManagedPartitions=all
GpuType=a100 Speed=1.0
GpuType=h100 Speed=2.2
.fi
.RE
.PP
Set hints for all jobs of two job types:
.PP
.RS
.nf
JobType=resnet50 Shared=yes Gpus=1\-8 Batch=256\-1024
JobType=bert Gpus=4,8,16 GpuTypes=h100/a100 Checkpoint=USR1@60 Resize=restart
.fi
.RE
.SH FILES
.TP
.I rubato.conf
In the folder of slurm.conf.
.SH SEE ALSO
.BR rubato\-hints (7),
.BR rubato_plugins (8),
.BR slurm.conf (5),
.BR scontrol (1)
)";

constexpr const char* kExampleTop = R"(# SPDX-License-Identifier: GPL-2.0-or-later
# Example of rubato.conf. Copy it to the folder of slurm.conf. See rubato.conf(5).
# It has every option with its default, or with an example if it has none.
# As it is, it changes nothing: the mode is observe, as without this file.
# `scontrol reconfigure` reads the file again. If it has an error, the previous
# configuration stays in use.

Mode=observe
)";

}  // namespace

std::string man_page_config() {
  std::string out = kManTop;
  for (const Option& option : options()) {
    out += man_option(option);
  }
  return out + kManEnd;
}

std::string example_config() {
  std::string out = kExampleTop;
  for (const Option& option : options()) {
    if (!option.record.empty()) continue;
    if (option.name == "Mode") continue;  // at the top
    out += "\n" + wrapped(capital(option.help) + ".", "# ");
    if (!option.text.empty()) out += wrapped(option.text, "# ");
    out += wrapped(capital(option_facts(option)) + ".", "# ");
    std::string value = option.default_text.empty() ? option.example : option.default_text;
    for (const Option& part : options()) {
      if (part.record == option.name) {
        out += wrapped(part.name + ": " + part.help + "; " + describe_values(part) + ".", "# ");
        value += fmt::format(" {}={}", part.name, part.example);
      }
    }
    out += fmt::format("#{}={}\n", option.name, value);
  }
  return out;
}

}  // namespace rubato
