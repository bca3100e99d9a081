// SPDX-License-Identifier: GPL-2.0-or-later
// Asking squeue for jobs in a form that can be read back without doubt.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lib/base/error.h"
#include "tools/shared/format.h"
#include "tools/shared/job_facts.h"

namespace rubato::tools {

/// One line of squeue's output: a text per requested field, cut and padded by squeue itself.
struct SqueueRow {
  std::string job_id;
  JobTexts texts;                   ///< uncut
  std::vector<std::string> fields;  ///< as SqueueQuery::fields
};

/// The jobs of one cluster.
struct SqueueSection {
  std::string preamble;  ///< what squeue printed before the headings: a date, the cluster's name
  SqueueRow headings;
  std::vector<SqueueRow> rows;
};

struct SqueueAnswer {
  std::vector<SqueueSection> sections;
  int exit = 0;  ///< of squeue, which has said on stderr what went wrong
};

struct SqueueQuery {
  std::vector<std::string> arguments;  ///< options that say which jobs, not how they are printed
  std::vector<FormatField> fields;     ///< of squeue, own ones do not count
  std::vector<std::pair<std::string, std::string>> environment;
  bool quiet = false;  ///< what squeue writes to stderr is lost
};

/// Runs the squeue of PATH, which writes its errors to our stderr. Fails if there is none, if it
/// does not answer in time, or prints what is no answer to the query.
[[nodiscard]] Result<SqueueAnswer> ask_squeue(const SqueueQuery& query);

/// The parser: `mark` follows each field, a row has `count` fields.
[[nodiscard]] Result<std::vector<SqueueSection>> read_squeue(std::string_view text,
                                                             std::string_view mark,
                                                             std::size_t count);

}  // namespace rubato::tools
