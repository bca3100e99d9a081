// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/validate/data_gavel.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <fstream>
#include <iterator>
#include <set>
#include <system_error>
#include <tuple>

namespace rubato {
namespace {

constexpr std::size_t kMaxBytes = std::size_t{64} << 20;
constexpr std::size_t kMaxShown = 40;
constexpr std::string_view kSpread = "_unconsolidated";
constexpr std::string_view kBatch = " (batch size ";
constexpr int kMaxScale = 65536;

/// Parses the fixed structure of the file.
class Scanner {
 public:
  Scanner(std::string_view text, std::string name) : text_(text), name_(std::move(name)) {}

  [[nodiscard]] tl::unexpected<Error> error(std::size_t at, std::string_view expected) const {
    const std::string_view before = text_.substr(0, std::min(at, text_.size()));
    const auto line = 1 + std::count(before.begin(), before.end(), '\n');
    const std::size_t begin = before.rfind('\n') + 1;  // npos + 1 is 0
    std::string found(text_.substr(before.size(), kMaxShown));
    found = found.substr(0, found.find_first_of("\r\n"));
    for (char& c : found)
      if (static_cast<unsigned char>(c) < ' ' || c == 0x7f) c = '?';
    return fail(fmt::format("{}:{}:{}: expected {}, found {}", name_, line,
                            before.size() - begin + 1, expected,
                            found.empty() ? "the end" : "'" + found + "'"));
  }

  std::size_t here() {
    while (at_ < text_.size() && std::strchr(" \t\r\n", text_[at_]) != nullptr) ++at_;
    return at_;
  }
  [[nodiscard]] bool ended() { return here() == text_.size(); }

  bool take(char c) {
    if (here() == text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  Result<void> need(char c) {
    if (take(c)) return {};
    return error(at_, fmt::format("'{}'", c));
  }

  Result<std::string> string() {
    const std::size_t begin = here();
    if (!take('"')) return error(begin, "a name in double quotes");
    std::string value;
    while (at_ < text_.size() && text_[at_] != '"' && text_[at_] != '\n') {
      if (text_[at_] == '\\') ++at_;
      if (at_ < text_.size()) value += text_[at_++];
    }
    if (!take('"')) return error(begin, "a name that ends with a double quote");
    return value;
  }

  /// A finite number of at least 0.
  Result<double> amount() {
    const std::size_t begin = here();
    double value = 0;
    const auto [end, wrong] =
        std::from_chars(text_.data() + begin, text_.data() + text_.size(), value);
    if (wrong != std::errc{} || !std::isfinite(value) || value < 0)
      return error(begin, "a rate of at least 0");
    at_ = static_cast<std::size_t>(end - text_.data());
    return value;
  }

  /// Calls `member(name, its position)` for each member of an object.
  template <typename Member>
  Result<void> object(Member member) {
    if (auto open = need('{'); !open) return open;
    if (take('}')) return {};
    std::set<std::string> seen;
    while (true) {
      const std::size_t begin = here();
      auto name = string();
      if (!name) return tl::unexpected(name.error());
      if (!seen.insert(*name).second) return error(begin, "a name that was not there before");
      if (auto colon = need(':'); !colon) return colon;
      if (Result<void> read = member(*name, begin); !read) return read;
      if (take('}')) return {};
      if (auto comma = need(','); !comma) return error(at_, "',' or '}'");
    }
  }

 private:
  std::string_view text_;
  std::string name_;
  std::size_t at_ = 0;
};

/// "('NAME', SCALE)".
std::optional<std::pair<GavelModel, int>> job_of(std::string_view key) {
  constexpr std::string_view kBegin = "('";
  const std::size_t middle = key.rfind("', ");
  if (!key.starts_with(kBegin) || !key.ends_with(')') || middle == std::string_view::npos ||
      middle <= kBegin.size()) {
    return std::nullopt;
  }
  const std::string_view number = key.substr(middle + 3, key.size() - middle - 4);
  int scale = 0;
  const auto [end, wrong] = std::from_chars(number.data(), number.data() + number.size(), scale);
  if (wrong != std::errc{} || end != number.data() + number.size() || scale < 1 ||
      scale > kMaxScale) {
    return std::nullopt;
  }
  const std::string name(key.substr(kBegin.size(), middle - kBegin.size()));
  return std::pair(gavel_model(name), scale);
}

constexpr const char* kJob = "a job \"('NAME', SCALE)\" with a whole scale above 0";

Result<void> read_partner(Scanner& in, const std::string& name, std::size_t begin,
                          GavelObservation& observation) {
  const auto job = job_of(name);
  if (!job) return in.error(begin, fmt::format("\"null\" or {}", kJob));
  GavelObservation::Partner partner{.model = job->first, .scale = job->second};
  if (auto open = in.need('['); !open) return open;
  const auto own = in.amount();
  if (!own) return tl::unexpected(own.error());
  if (auto comma = in.need(','); !comma) return comma;
  const auto other = in.amount();
  if (!other) return tl::unexpected(other.error());
  partner.own_steps = *own;
  partner.other_steps = *other;
  observation.shared.push_back(std::move(partner));
  return in.need(']');
}

Result<void> read_cell(Scanner& in, GavelObservation& observation, std::size_t begin) {
  bool alone = false;
  auto read = in.object([&](const std::string& name, std::size_t at) -> Result<void> {
    if (name != "null") return read_partner(in, name, at, observation);
    const auto steps = in.amount();
    if (!steps) return tl::unexpected(steps.error());
    observation.steps = *steps;
    alone = true;
    return {};
  });
  if (read && !alone) return in.error(begin, "a job with \"null\", its rate when it is alone");
  std::sort(observation.shared.begin(), observation.shared.end(), [](const auto& a, const auto& b) {
    return std::tie(a.model.name, a.scale) < std::tie(b.model.name, b.scale);
  });
  return read;
}

}  // namespace

GavelModel gavel_model(const std::string& name) {
  GavelModel model{.name = name, .app = name};
  const std::size_t at = name.rfind(kBatch);
  if (at == std::string::npos || !name.ends_with(')')) return model;
  const char* begin = name.data() + at + kBatch.size();
  const char* end = name.data() + name.size() - 1;
  std::int64_t batch = 0;
  const auto [stop, wrong] = std::from_chars(begin, end, batch);
  if (wrong != std::errc{} || stop != end || batch < 1) return model;
  model.app = name.substr(0, at);
  model.batch = batch;
  return model;
}

Result<GavelData> parse_gavel(std::string_view text, const std::string& name) {
  Scanner in(text, name);
  GavelData data;
  auto read = in.object([&](const std::string& type, std::size_t type_at) -> Result<void> {
    const bool spread = type.ends_with(kSpread);
    const std::string gpu_type = spread ? type.substr(0, type.size() - kSpread.size()) : type;
    if (gpu_type.empty()) return in.error(type_at, "a type of GPU");
    return in.object([&](const std::string& key, std::size_t at) -> Result<void> {
      const auto job = job_of(key);
      if (!job) return in.error(at, kJob);
      GavelObservation observation;
      observation.model = job->first;
      observation.gpu_type = gpu_type;
      observation.consolidated = !spread;
      observation.scale = job->second;
      Result<void> one = read_cell(in, observation, at);
      if (one) data.observations.push_back(std::move(observation));
      return one;
    });
  });
  if (!read) return tl::unexpected(read.error());
  if (!in.ended()) return in.error(in.here(), "the end");
  std::sort(data.observations.begin(), data.observations.end(),
            [](const GavelObservation& a, const GavelObservation& b) {
              const auto order = [](const GavelObservation& observation) {
                return std::tie(observation.gpu_type, observation.model.name, observation.scale);
              };
              if (a.gpu_type == b.gpu_type && a.consolidated != b.consolidated)
                return a.consolidated;
              return order(a) < order(b);
            });
  return data;
}

Result<GavelData> read_gavel(const std::string& data_dir) {
  const std::string path = data_dir + "/gavel/simulation_throughputs.json";
  struct stat facts {};
  if (stat(path.c_str(), &facts) != 0)
    return fail(path + ": " + std::generic_category().message(errno));
  if (!S_ISREG(facts.st_mode) || static_cast<std::size_t>(facts.st_size) > kMaxBytes)
    return fail(path + ": expected a regular file of at most 64 MiB");
  std::ifstream file(path, std::ios::binary);
  if (!file) return fail(path + ": cannot be read");
  std::string text;
  // A read that fails midway throws.
  try {
    text.assign(std::istreambuf_iterator<char>(file), {});
  } catch (const std::ios_base::failure&) {
    return fail(path + ": cannot be read");
  }
  return parse_gavel(text, path);
}

}  // namespace rubato
