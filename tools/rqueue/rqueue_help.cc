// SPDX-License-Identifier: GPL-2.0-or-later
#include <fmt/format.h>

#include "tools/rqueue/rqueue_options.h"
#include "tools/shared/own_fields.h"
#include "tools/shared/squeue_fields.h"

namespace rubato::tools {

std::string rqueue_usage() {
  return "Usage: rqueue [-A account] [-M clusters] [-i seconds] [-j jobid] [-n name]\n"
         "              [-o format | -O format | --json] [-p partitions] [-q qos]\n"
         "              [-R reservation] [-S fields] [--start] [-t states] [-u user]\n"
         "              [-L licenses] [-w nodes] [--me] [--federation] [--local]\n"
         "              [--sibling] [-ahlrsv]\n";
}

std::string rqueue_help() {
  return "Usage: rqueue [OPTIONS]\n"
         "\n"
         "Lists jobs like squeue(1), with Rubato's data on each. Options that select or\n"
         "sort jobs are those of squeue.\n"
         "\n"
         "Job selection:\n"
         "  -A, --account=ACCOUNTS    -n, --name=NAMES         -t, --states=STATES\n"
         "  -a, --all                 -p, --partition=NAMES    -u, --user=USERS\n"
         "  -j, --jobs=IDS            -q, --qos=QOS            -w, --nodelist=NODES\n"
         "  -L, --licenses=NAMES      -R, --reservation=NAME   -M, --clusters=NAMES\n"
         "      --me, --notme             --hide                   --federation, --local,\n"
         "  -r, --array                   --array-unique           --sibling\n"
         "  -P, --priority            -s, --steps[=STEPS]      list steps, as squeue does\n"
         "\n"
         "Output:\n"
         "  -l, --long              More columns\n"
         "      --start             Pending jobs by expected start\n"
         "  -o, --format=FORMAT     squeue's letters and Rubato's fields: %[[.]WIDTH]{NAME}\n"
         "  -O, --Format=FORMAT     squeue's and Rubato's names: NAME[:[.]WIDTH[SUFFIX]],...\n"
         "      --helpformat        List the fields\n"
         "  -S, --sort=FIELDS       squeue's letters and Rubato's names; - before a field\n"
         "                          reverses its order: -S -dlrate,P\n"
         "      --json              Print a JSON document of the same jobs\n"
         "      --yaml              Print squeue's own YAML\n"
         "  -h, --noheader          Print no headings\n"
         "  -i, --iterate=SECONDS   Repeat every SECONDS seconds\n"
         "      --noconvert         Do not convert units\n"
         "      --color=WHEN        auto (on a terminal without NO_COLOR), always or never\n"
         "  -v, --verbose           Print more details\n"
         "\n"
         "  -V, --version           Print the version\n"
         "      --help, --usage\n"
         "\n"
         "Exit codes: those of squeue; 0 ok, 1 error, also on the command line.\n";
}

std::string rqueue_help_format() {
  std::string text =
      "Rubato's fields; unknown values are printed as -.\n"
      "  -O, --sort    -o               Heading\n";
  for (const OwnField& field : own_fields()) {
    text += fmt::format("  {:<12}  %{:<14}  {:<14}  {}\n", field.name,
                        fmt::format("{{{}}}", field.name + 2), field.heading, field.help);
  }
  text += "\nsqueue's fields, see squeue(1).\n  -O                   -o\n";
  for (const SqueueField& field : squeue_fields()) {
    if (field.name == kShortOnly) {
      text += fmt::format("  {:<19}  %{}\n", "", field.letter);
    } else if (field.letter != 0) {
      text += fmt::format("  {:<19}  %{}\n", field.name, field.letter);
    } else {
      text += fmt::format("  {}\n", field.name);
    }
  }
  return text;
}

}  // namespace rubato::tools
