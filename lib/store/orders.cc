// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/store/orders.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <memory>

#include "lib/base/atomic_file.h"
#include "lib/base/json_writer.h"
#include "lib/json/json_documents.h"
#include "lib/store/folder.h"

namespace rubato::store {
namespace {

constexpr const char* kOrderSchema = "rubato.order/1";
constexpr const char* kAnswerSchema = "rubato.order-answer/1";
constexpr std::int64_t kMaxBytes = std::int64_t{64} << 20;
constexpr Seconds kKeepAnswers = 86400;

struct CloseDir {
  void operator()(DIR* folder) const { ::closedir(folder); }
};

/// Names in a folder that end with `ending`, without it; sorted.
std::vector<std::string> names_in(const std::string& path, std::string_view ending) {
  std::vector<std::string> names;
  const std::unique_ptr<DIR, CloseDir> folder(::opendir(path.c_str()));
  if (folder == nullptr) return names;
  // Safe: no other thread has this stream.
  while (const dirent* entry = ::readdir(folder.get())) {  // NOLINT(concurrency-mt-unsafe)
    const std::string_view name = entry->d_name;
    if (name.size() > ending.size() && name.ends_with(ending)) {
      names.emplace_back(name.substr(0, name.size() - ending.size()));
    }
  }
  std::sort(names.begin(), names.end());
  return names;
}

class File {
 public:
  explicit File(int descriptor) : descriptor_(descriptor) {}
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  ~File() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  [[nodiscard]] int get() const { return descriptor_; }

 private:
  int descriptor_;
};

Result<std::string> read_all(int file, const std::string& path, std::int64_t size) {
  std::string text(static_cast<std::size_t>(size), '\0');
  std::size_t done = 0;
  while (done < text.size()) {
    const ssize_t got = ::read(file, text.data() + done, text.size() - done);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return fail(system_text(path, errno));
    if (got == 0) break;
    done += static_cast<std::size_t>(got);
  }
  text.resize(done);
  return text;
}

/// Reads a plain file that only root or this user can have written.
Result<std::string> read_trusted(const std::string& path) {
  const File file(::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (file.get() < 0) return fail(system_text(path, errno));
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) return fail(system_text(path, errno));
  if (!S_ISREG(status.st_mode)) return fail(path + ": not a regular file");
  if (status.st_uid != 0 && status.st_uid != ::geteuid()) {
    return fail(
        fmt::format("{}: belongs to user {}; only root and the user of the store may give "
                    "orders",
                    path, status.st_uid));
  }
  if ((status.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
    return fail(path + ": others may write it; make it 0600");
  }
  if (status.st_size > kMaxBytes) return fail(path + ": larger than 64 MiB");
  return read_all(file.get(), path, status.st_size);
}

/// Writes the file atomically, with mode 0600.
Result<void> write_new(const std::string& path, std::string_view text) {
  const auto written = write_atomically(path, text);
  if (written) return {};
  return fail(system_text(written.error().path, written.error().code));
}

std::int64_t read_count(const JsonItem& item) {
  return static_cast<std::int64_t>(item.number(static_cast<std::uint64_t>(kJsonMaxTime)));
}

ForgetOrder read_forget(const JsonItem& item) {
  ForgetOrder order;
  JsonObject object(item);
  object.required("job_type", [&](const JsonItem& name) {
    order.job_type = name.text();
    if (!name.failed() && order.job_type.empty()) name.error("expected the name of a job type");
  });
  object.optional("account", [&](const JsonItem& name) { order.account = name.text(); });
  object.optional("gpu_type", [&](const JsonItem& name) { order.gpu_type = name.text(); });
  object.optional("before", [&](const JsonItem& time) { order.before = read_count(time); });
  object.finish();
  return order;
}

}  // namespace

std::string order_to_json(const Order& order) {
  if (const auto* import = std::get_if<ImportOrder>(&order)) {
    JsonWriter json;
    json.begin_object();
    json.put("schema", std::string_view(kOrderSchema));
    json.put("import", profiles_to_json(import->rows));
    json.end_object();
    return json.take();
  }
  const auto& forget = std::get<ForgetOrder>(order);
  JsonWriter json;
  json.begin_object();
  json.put("schema", std::string_view(kOrderSchema));
  json.key("forget");
  json.begin_object();
  json.put("job_type", forget.job_type);
  if (forget.account) json.put("account", *forget.account);
  if (forget.gpu_type) json.put("gpu_type", *forget.gpu_type);
  if (forget.before) json.put("before", *forget.before);
  json.end_object();
  json.end_object();
  return json.take();
}

Result<Order> order_from_json(std::string_view text) {
  return json::parse<Order>(text, kOrderSchema, [](JsonObject& object) {
    std::optional<Order> order;
    object.optional("import", [&](const JsonItem& item) {
      const std::string profiles = item.text();
      if (item.failed()) return;
      auto rows = profiles_from_json(profiles, "import");
      if (!rows) return item.error(rows.error().text);
      order = ImportOrder{std::move(*rows)};
    });
    object.optional("forget", [&](const JsonItem& item) {
      if (order) return item.error("cannot be combined with import; write one order per file");
      order = read_forget(item);
    });
    if (!order) object.error("expected import or forget");
    return order.value_or(Order{});
  });
}

std::string answer_to_json(const Result<OrderDone>& answer) {
  JsonWriter json;
  json.begin_object();
  json.put("schema", std::string_view(kAnswerSchema));
  if (answer) {
    json.put("imported", answer->imported);
    json.put("samples", answer->samples);
    json.put("rows", answer->rows);
    json.put("fits", answer->fits);
  } else {
    json.put("error", answer.error().text);
  }
  json.end_object();
  return json.take();
}

Result<OrderDone> answer_from_json(std::string_view text) {
  auto read = json::parse<Result<OrderDone>>(text, kAnswerSchema, [](JsonObject& object) {
    Result<OrderDone> answer;
    object.optional("error", [&](const JsonItem& item) { answer = fail(item.text()); });
    const auto count = [&](const char* name, std::int64_t OrderDone::*to) {
      object.optional(name, [&](const JsonItem& item) {
        if (answer) (*answer).*to = read_count(item);
      });
    };
    count("imported", &OrderDone::imported);
    count("samples", &OrderDone::samples);
    count("rows", &OrderDone::rows);
    count("fits", &OrderDone::fits);
    return answer;
  });
  if (!read) return tl::unexpected(read.error());
  return *read;
}

Result<void> OrderFolder::prepare(Seconds now) const {
  if (::mkdir(path_.c_str(), 0700) != 0 && errno != EEXIST) return fail(system_text(path_, errno));
  struct stat status {};
  if (::lstat(path_.c_str(), &status) != 0) return fail(system_text(path_, errno));
  if (!S_ISDIR(status.st_mode) || status.st_uid != ::geteuid() ||
      (status.st_mode & (S_IRWXG | S_IRWXO)) != 0) {
    return fail(
        fmt::format("{}: no folder of this user with mode 0700; orders are not taken", path_));
  }
  for (const std::string& name : names_in(path_, ".taken")) {
    const std::string path = path_ + "/" + name;
    ::rename((path + ".taken").c_str(), (path + ".order").c_str());
  }
  for (const std::string& name : names_in(path_, ".answer")) {
    const std::string path = path_ + "/" + name + ".answer";
    if (::lstat(path.c_str(), &status) == 0 && now - status.st_mtime > kKeepAnswers) {
      ::unlink(path.c_str());
    }
  }
  return {};
}

std::optional<OrderFolder::Taken> OrderFolder::take() const {
  for (const std::string& name : names_in(path_, ".order")) {
    const std::string path = path_ + "/" + name;
    if (::rename((path + ".order").c_str(), (path + ".taken").c_str()) != 0) continue;
    return Taken{name, read_trusted(path + ".taken").and_then([](const std::string& text) {
                   return order_from_json(text);
                 })};
  }
  return std::nullopt;
}

Result<void> OrderFolder::answer(const std::string& name, const Result<OrderDone>& answer) const {
  const std::string path = path_ + "/" + name;
  auto written = write_new(path + ".answer", answer_to_json(answer));
  ::unlink((path + ".taken").c_str());
  return written;
}

Result<std::string> OrderFolder::give(const Order& order) const {
  struct timespec now {};
  ::clock_gettime(CLOCK_REALTIME, &now);
  // Names sort in the order of submission.
  std::string name = fmt::format("{:010}.{:09}-{}", now.tv_sec, now.tv_nsec, ::getpid());
  return write_new(path_ + "/" + name + ".order", order_to_json(order)).map([&] { return name; });
}

std::optional<Result<OrderDone>> OrderFolder::fetch(const std::string& name) const {
  const std::string path = path_ + "/" + name + ".answer";
  if (::access(path.c_str(), F_OK) != 0) return std::nullopt;
  const auto text = read_trusted(path);
  if (!text) return tl::unexpected(text.error());
  ::unlink(path.c_str());
  return answer_from_json(*text);
}

bool OrderFolder::take_back(const std::string& name) const {
  return ::unlink((path_ + "/" + name + ".order").c_str()) == 0;
}

}  // namespace rubato::store
