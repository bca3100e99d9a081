// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/config/render.h"

#include <fmt/format.h>

#include <algorithm>

#include "lib/base/prose.h"
#include "lib/config/options.h"
#include "lib/config/values.h"

namespace rubato {
namespace {

/// 86400 -> "86400 seconds".
std::string with_unit(const std::string& value, const Option& option) {
  if (option.unit.empty()) return value;
  const std::string unit =
      value == "1" ? option.unit.substr(0, option.unit.size() - 1) : option.unit;
  return value + " " + unit;
}

/// "; default 10 seconds", or "" where there is none.
std::string default_of(const Option& option) {
  if (option.default_text.empty()) return "";
  return "; default " + with_unit(option.default_text, option);
}

std::string word_form(const OptionWord& word) {
  return word.argument.empty() ? word.name : word.name + ":" + word.argument;
}

/// "a whole number from 1 to 1000; default 4".
std::string facts(const Option& option) {
  std::string out = describe_values(option);
  if (option.type == OptionType::kWords) out = "words with commas between";
  if (option.type == OptionType::kName) return out + ", on as many lines as there are types";
  out += default_of(option);
  if (!option.record.empty()) out += "; on a " + option.record + " line";
  return out;
}

std::string man_option(const Option& option) {
  std::string out = fmt::format(".TP\n.B {}\n{}.\n", roff(option.name), roff(capital(option.help)));
  if (!option.text.empty()) out += roff(option.text) + "\n";
  out += roff(capital(facts(option))) + ".\n";
  if (!option.reload_safe) out += "Takes effect when slurmctld starts.\n";
  if (option.words.empty()) return out;
  out += ".RS\n";
  for (const OptionWord& word : option.words) {
    out += fmt::format(".TP\n.B {}\n{}.\n", roff(word_form(word)), roff(capital(word.help)));
  }
  return out + ".RE\n";
}

constexpr const char* kManTop = R"(.\" SPDX-License-Identifier: GPL-2.0-or-later
.\" Written by lib/config/config_docs from the table in lib/config/options.cc.
.TH rubato.conf 5 "" "Rubato" "Slurm configuration"
.SH NAME
rubato.conf \- configuration of the Rubato plugins of Slurm
.SH DESCRIPTION
.B rubato.conf
stands beside
.B slurm.conf
and tells the Rubato plugins of slurmctld what they may do.
Nothing changes until it says so: without the file, without a line
.BR Mode= ,
and with a file that has an error when slurmctld starts, the mode is
.BR observe .
.PP
The file is read when slurmctld starts and at
.BR "scontrol reconfigure" .
A file with an error never replaces a good configuration: slurmctld's log names file, line and word
of every error, and the configuration that was read before stays.
So it does when the file is gone: write
.B Mode=observe
to switch Rubato off.
.B rubato doctor
prints the same errors.
.SH SYNTAX
The file is written as
.B slurm.conf
is.
A line holds one or several pairs
.IR Key = Value ;
keys may be written in any case.
.IP \(bu 2
.B #
begins a comment, in quotes too;
.B \e#
is the character itself.
.IP \(bu 2
A backslash at the end of a line joins the next line to it.
.IP \(bu 2
A value that holds blanks stands in double quotes.
.IP \(bu 2
.BI Include " FILE"
reads another file in this place.
A relative name starts at the folder of the file that names it.
.IP \(bu 2
An option may be set once, in all files together.
A line that begins with
.B GpuType=
or
.B JobType=
describes one type; there may be several.
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

constexpr const char* kManTests = R"(.SH OPTIONS FOR TESTS
These are refused unless
.B RUBATO_TESTING=1
stands in the environment of slurmctld or of the command.
)";

constexpr const char* kManEnd = R"(.SH EXAMPLES
Watch what Rubato would do with the partitions gpu and train:
.PP
.RS
.nf
Mode=observe
ManagedPartitions=gpu,train
.fi
.RE
.PP
Let it place the jobs of every partition, with two types of GPU:
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
Say for all jobs of two types what they can do:
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
# Example of rubato.conf, to stand beside slurm.conf. See rubato.conf(5).
# Every option is here with its default, or with an example where it has none.
# Nothing below changes anything: the mode is observe, as it is without this
# file.
# `scontrol reconfigure` reads the file again; after an error in it the
# configuration that was read before stays.

Mode=observe
)";

}  // namespace

std::string help_config(bool testing) {
  std::string out =
      "rubato.conf stands beside slurm.conf and is written as slurm.conf is:\n"
      "Key=Value, # comments, a backslash joins lines, Include FILE. Times are\n"
      "seconds, MM:SS, HH:MM:SS or D-HH:MM:SS.\n";
  for (const Option& option : options()) {
    if (option.test_only && !testing) continue;
    out += "\n" + option.name + (option.test_only ? "  (for tests only)\n" : "\n");
    out += wrapped(capital(option.help) + ".", "    ");
    out += wrapped(capital(facts(option)) + ".", "    ");
    for (const OptionWord& word : option.words) {
      out += wrapped(word_form(word) + ": " + word.help, "      ");
    }
  }
  return out;
}

std::string man_page_config() {
  std::string out = kManTop;
  for (const Option& option : options()) {
    if (!option.test_only) out += man_option(option);
  }
  out += kManTests;
  for (const Option& option : options()) {
    if (option.test_only) out += man_option(option);
  }
  return out + kManEnd;
}

std::string example_config() {
  std::string out = kExampleTop;
  for (const Option& option : options()) {
    if (option.test_only || !option.record.empty()) continue;
    if (option.name == "Mode") continue;  // stands at the top
    out += "\n" + wrapped(capital(option.help) + ".", "# ");
    if (!option.text.empty()) out += wrapped(option.text, "# ");
    out += wrapped(capital(facts(option)) + ".", "# ");
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
