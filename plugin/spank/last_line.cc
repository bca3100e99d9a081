// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugin/spank/last_line.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "lib/hints/message.h"
#include "plugin/spank/report_file.h"

namespace rubato {
namespace {

constexpr std::int64_t kTail = 4096;

}  // namespace

std::optional<LastLine> read_last_line(const std::string& path, uid_t owner) {
  const Descriptor file(
      ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_NOCTTY | O_CLOEXEC));
  struct stat found = {};
  if (!file.open() || fstat(file.get(), &found) != 0 || !S_ISREG(found.st_mode) ||
      found.st_uid != owner) {
    return std::nullopt;
  }
  std::array<char, kTail> buffer;
  const std::int64_t from = std::max<std::int64_t>(0, found.st_size - kTail);
  const ssize_t got = pread(file.get(), buffer.data(), buffer.size(), from);
  if (got <= 0) return std::nullopt;
  const std::string_view tail(buffer.data(), static_cast<std::size_t>(got));
  const std::size_t end = tail.rfind('\n');
  if (end == std::string_view::npos) return std::nullopt;
  const std::size_t before = end == 0 ? std::string_view::npos : tail.rfind('\n', end - 1);
  // The line begins before the part that was read, so it is longer than any message.
  if (before == std::string_view::npos && from > 0) return std::nullopt;
  const std::size_t begin = before == std::string_view::npos ? 0 : before + 1;
  if (end - begin > kMaxMessageLength) return std::nullopt;
  return LastLine{std::string(tail.substr(begin, end - begin)),
                  from + static_cast<std::int64_t>(end), static_cast<std::int64_t>(found.st_ino)};
}

void keep_sent(int claim, const LastLine& line) {
  const std::array<std::int64_t, 2> where = {line.end, line.file};
  std::string bytes(reinterpret_cast<const char*>(where.data()), sizeof where);
  bytes += line.text;
  if (ftruncate(claim, 0) != 0) return;
  // A partial or missing record means that the line is sent once more.
  (void)!pwrite(claim, bytes.data(), bytes.size(), 0);
}

LastLine kept_sent(int claim) {
  std::array<std::int64_t, 2> where = {};
  std::array<char, sizeof where + kMaxMessageLength> bytes = {};
  const ssize_t got = pread(claim, bytes.data(), bytes.size(), 0);
  if (got < static_cast<ssize_t>(sizeof where)) return {};
  std::memcpy(where.data(), bytes.data(), sizeof where);
  return LastLine{std::string(bytes.data() + sizeof where, bytes.data() + got), where[0], where[1]};
}

Result<std::string> message_of_line(const std::string& line) {
  const auto message = parse_message("rubato!" + line);
  if (!message) return tl::unexpected(message.error());
  return render_message(*message);
}

}  // namespace rubato
