// SPDX-License-Identifier: GPL-2.0-or-later
// Arbitrary bytes in a job's report file, and in the file that keeps the last sent line: a line
// without a newline or none, and a message that reads back or an error with a text.
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "lib/hints/message.h"
#include "plugin/spank/last_line.h"

namespace {

namespace fs = std::filesystem;

void require(bool holds) {
  if (!holds) std::abort();
}

const std::string& report_file() {
  static const std::string path = [] {
    std::string name = (fs::temp_directory_path() / "rubato-fuzz-XXXXXX").string();
    const int file = mkstemp(name.data());
    require(file >= 0);
    close(file);
    return name;
  }();
  return path;
}

void write_bytes(int file, const std::uint8_t* data, std::size_t size) {
  require(ftruncate(file, 0) == 0);
  require(pwrite(file, data, size, 0) == static_cast<ssize_t>(size));
}

void check_line(const rubato::LastLine& line) {
  require(line.text.find('\n') == std::string::npos);
  require(line.text.size() <= rubato::kMaxMessageLength);
  const auto message = rubato::message_of_line(line.text);
  if (!message) return require(!message.error().text.empty());
  const auto parsed = rubato::parse_message(*message);
  require(parsed && rubato::render_message(*parsed) == *message);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  {
    std::ofstream out(report_file(), std::ios::binary | std::ios::trunc);
    out.write(reinterpret_cast<const char*>(data), static_cast<std::streamsize>(size));
  }
  const auto line = rubato::read_last_line(report_file(), geteuid());
  if (line) check_line(*line);
  require(!rubato::read_last_line(report_file(), geteuid() + 1));
  static const int claim = memfd_create("claim", MFD_CLOEXEC);
  require(claim >= 0);
  write_bytes(claim, data, size);
  (void)rubato::kept_sent(claim);
  if (line) {
    rubato::keep_sent(claim, *line);
    require(rubato::kept_sent(claim) == *line);
  }
  return 0;
}
