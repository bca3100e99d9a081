// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugin/spank/report_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace rubato {
namespace {

constexpr int kOpenOurs = O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK;

tl::unexpected<Error> failed(const std::string& path, const char* what) {
  return tl::unexpected(Error{fmt::format("{}: {}: {}", path, what, strerror(errno))});
}

/// Makes a folder of our user that others cannot write to.
Result<void> make_folder(const std::string& path) {
  if (mkdir(path.c_str(), 0755) != 0 && errno != EEXIST) return failed(path, "cannot be made");
  struct stat found = {};
  if (lstat(path.c_str(), &found) != 0) return failed(path, "cannot be looked at");
  if (!S_ISDIR(found.st_mode) || found.st_uid != geteuid() || (found.st_mode & 022) != 0) {
    return tl::unexpected(
        Error{path + ": is not a folder that belongs to the step daemon's user alone"});
  }
  return {};
}

/// Takes the lock that every step holds; retries if the last user removed the file meanwhile.
Result<Descriptor> join(const std::string& folder) {
  const std::string path = folder + "/users";
  for (int tries = 0; tries < 10; ++tries) {
    if (const auto made = make_folder(folder); !made) return tl::unexpected(made.error());
    Descriptor file(::open(path.c_str(), kOpenOurs, 0600));
    if (!file.open() && errno == ENOENT) continue;
    if (!file.open()) return failed(path, "cannot be opened");
    struct stat found = {};
    if (flock(file.get(), LOCK_SH | LOCK_NB) == 0 && fstat(file.get(), &found) == 0 &&
        found.st_nlink > 0) {
      return file;
    }
    usleep(1000);  // another step may be about to remove it
  }
  return tl::unexpected(Error{path + ": is being removed all the time"});
}

}  // namespace

Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
  if (this != &other) {
    if (open()) close(number_);
    number_ = other.release();
  }
  return *this;
}

Descriptor::~Descriptor() {
  if (open()) close(number_);
}

int Descriptor::release() {
  const int number = number_;
  number_ = -1;
  return number;
}

Result<ReportFile> ReportFile::open(const std::string& folder, std::uint32_t job, Owner owner,
                                    bool fresh) {
  if (const auto made = make_folder(folder); !made) return tl::unexpected(made.error());
  const std::string own = fmt::format("{}/{}", folder, job);
  auto users = join(own);
  if (!users) return tl::unexpected(users.error());
  ReportFile report(own, std::move(*users));
  const std::string path = report.path();
  if (fresh) {
    unlink(path.c_str());
    unlink((own + "/forwarder").c_str());
  }
  const Descriptor file(::open(path.c_str(), kOpenOurs, 0600));
  if (!file.open()) return failed(path, "cannot be opened");
  struct stat found = {};
  if (fstat(file.get(), &found) != 0 || !S_ISREG(found.st_mode)) {
    return tl::unexpected(Error{path + ": is not a plain file"});
  }
  if (found.st_uid != owner.uid && fchown(file.get(), owner.uid, owner.gid) != 0) {
    return failed(path, "cannot be given to the job's owner");
  }
  return report;
}

Descriptor ReportFile::claim() const {
  Descriptor lock(::open((folder_ + "/forwarder").c_str(), kOpenOurs, 0600));
  if (lock.open() && flock(lock.get(), LOCK_EX | LOCK_NB) != 0) return Descriptor();
  return lock;
}

void ReportFile::leave() {
  if (users_.open() && flock(users_.get(), LOCK_EX | LOCK_NB) == 0) {
    for (const char* name : {"/report", "/forwarder", "/users"}) unlink((folder_ + name).c_str());
    rmdir(folder_.c_str());
  }
  users_ = Descriptor();
}

}  // namespace rubato
