// SPDX-License-Identifier: GPL-2.0-or-later
// Preloaded into slurmctld by the scenarios of failures.py: calls of Rubato's plugins fail at
// random, or find larger records.
//
// slurmctld is written in C, so every call of `operator new` is Rubato's or of a C++ library that
// it calls. The memory of Slurm itself (xmalloc) never fails: xmalloc ends the process by itself.
// A shared file, mapped by the scenario too, says what fails and counts it; failures.py has the
// same layout. Nothing fails before the file says so.
// Checks of the C library declare the functions that are defined here.
#undef _FORTIFY_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <sqlite3.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>

#define INTERPOSED extern "C" __attribute__((visibility("default")))

namespace {

enum class Kind : unsigned { kNew, kSqlite, kThread, kFile, kRecord, kCount };
constexpr auto kKinds = static_cast<std::size_t>(Kind::kCount);
constexpr std::size_t kMaxFolders = 2048;

struct KindState {
  std::atomic<std::uint64_t> one_in{0};  ///< about one of so many calls fails; 0: none
  std::atomic<std::uint64_t> until{0};   ///< none fails once so many have; 0: no such number
  std::atomic<std::uint64_t> calls{0};
  std::atomic<std::uint64_t> failed{0};
};

/// The shared file. All numbers are 8 bytes.
struct Control {
  std::atomic<std::uint64_t> seed{0};
  std::atomic<std::uint64_t> burst{0};  ///< so many more calls of the thread fail after a failure
  std::array<KindState, kKinds> kinds;
  std::array<char, kMaxFolders> folders{};  ///< file calls fail below these, separated by ':'
};

static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

Control nothing_fails;
std::atomic<Control*> control{&nothing_fails};

std::uint64_t mixed(std::uint64_t number) {
  number += 0x9e3779b97f4a7c15;
  number = (number ^ (number >> 30)) * 0xbf58476d1ce4e5b9;
  number = (number ^ (number >> 27)) * 0x94d049bb133111eb;
  return number ^ (number >> 31);
}

/// Whether this call fails. The n-th call of a kind fails or not by the seed alone, but for bursts.
bool fails(Kind kind) {
  thread_local std::array<std::uint64_t, kKinds> left
      __attribute__((tls_model("initial-exec"))) = {};
  const auto index = static_cast<std::size_t>(kind);
  Control& c = *control.load(std::memory_order_relaxed);
  KindState& state = c.kinds[index];
  const std::uint64_t call = state.calls.fetch_add(1, std::memory_order_relaxed);
  const std::uint64_t one_in = state.one_in.load(std::memory_order_relaxed);
  const std::uint64_t until = state.until.load(std::memory_order_relaxed);
  if (one_in == 0 || (until != 0 && state.failed.load(std::memory_order_relaxed) >= until)) {
    left[index] = 0;
    return false;
  }
  bool yes = false;
  if (left[index] > 0) {
    --left[index];
    yes = true;
  } else if (mixed(mixed(c.seed + index) + call) % one_in == 0) {
    yes = true;
    const std::uint64_t burst = c.burst.load(std::memory_order_relaxed);
    left[index] = burst == 0 ? 0 : mixed(call) % (burst + 1);
  }
  if (yes) state.failed.fetch_add(1, std::memory_order_relaxed);
  return yes;
}

void* allocate(std::size_t size, bool may_throw) {
  void* memory = fails(Kind::kNew) ? nullptr : std::malloc(size == 0 ? 1 : size);
  if (memory == nullptr && may_throw) throw std::bad_alloc();
  return memory;
}

// -- SQLite's memory ------------------------------------------------------------------------------

sqlite3_mem_methods sqlite_memory;

void* sqlite_allocate(int size) {
  return fails(Kind::kSqlite) ? nullptr : sqlite_memory.xMalloc(size);
}

void* sqlite_reallocate(void* memory, int size) {
  return fails(Kind::kSqlite) ? nullptr : sqlite_memory.xRealloc(memory, size);
}

// -- files ----------------------------------------------------------------------------------------

constexpr int kMaxTracked = 65536;
std::array<std::atomic<bool>, kMaxTracked> tracked{};  ///< descriptors of files below a folder

bool is_below(const char* path) {
  const char* folder = control.load(std::memory_order_relaxed)->folders.data();
  while (path != nullptr && *folder != '\0') {
    const std::size_t length = std::strcspn(folder, ":");
    if (length > 0 && std::strncmp(path, folder, length) == 0) return true;
    folder += length + (folder[length] == ':' ? 1 : 0);
  }
  return false;
}

bool fails_with_error(Kind kind) {
  if (!fails(kind)) return false;
  errno =
      mixed(control.load()->kinds[static_cast<std::size_t>(kind)].failed) % 2 == 0 ? ENOSPC : EIO;
  return true;
}

bool file_fails(int file) {
  return file >= 0 && file < kMaxTracked && tracked[static_cast<std::size_t>(file)].load() &&
         fails_with_error(Kind::kFile);
}

bool path_fails(const char* path) { return is_below(path) && fails_with_error(Kind::kFile); }

template <typename Function>
Function next(Function /*self*/, const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

/// Whether the library of this address has `part` in its path.
bool is_in(const void* address, const char* part) {
  Dl_info found{};
  return dladdr(address, &found) != 0 && found.dli_fname != nullptr &&
         std::strstr(found.dli_fname, part) != nullptr;
}

int noted(int file, const char* path) {
  if (file >= 0 && file < kMaxTracked)
    tracked[static_cast<std::size_t>(file)].store(is_below(path));
  return file;
}

mode_t mode_of(int flags, va_list words) {
  return (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(words, mode_t) : 0;
}

__attribute__((constructor)) void begin() {
  if (sqlite3_config(SQLITE_CONFIG_GETMALLOC, &sqlite_memory) == SQLITE_OK) {
    static sqlite3_mem_methods failing = sqlite_memory;
    failing.xMalloc = &sqlite_allocate;
    failing.xRealloc = &sqlite_reallocate;
    sqlite3_config(SQLITE_CONFIG_MALLOC, &failing);
  }
  const char* path = std::getenv("RUBATO_FAULTS");
  if (path == nullptr) return;
  const int file = ::open(path, O_RDWR | O_CLOEXEC);
  if (file < 0) return;
  void* shared = mmap(nullptr, sizeof(Control), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  ::close(file);
  if (shared != MAP_FAILED) control.store(static_cast<Control*>(shared));
}

}  // namespace

__attribute__((visibility("default"))) void* operator new(std::size_t size) {
  return allocate(size, true);
}
__attribute__((visibility("default"))) void* operator new[](std::size_t size) {
  return allocate(size, true);
}
__attribute__((visibility("default"))) void* operator new(std::size_t size,
                                                          const std::nothrow_t&) noexcept {
  return allocate(size, false);
}
__attribute__((visibility("default"))) void* operator new[](std::size_t size,
                                                            const std::nothrow_t&) noexcept {
  return allocate(size, false);
}

// Threads that Rubato or libstdc++ makes; Slurm ends the process if it cannot make one.
INTERPOSED int pthread_create(pthread_t* thread, const pthread_attr_t* attributes,
                              void* (*body)(void*), void* argument) {
  static const auto real = next(&pthread_create, "pthread_create");
  const void* from = __builtin_return_address(0);
  if ((is_in(from, "/libstdc++.so") || is_in(from, "/rubato/")) && fails(Kind::kThread))
    return EAGAIN;
  return real(thread, attributes, body, argument);
}

// Rubato compares the sizes of slurmctld's records with those of its headers.
INTERPOSED std::size_t xsize(void* item) {
  static const auto real = next(&xsize, "xsize");
  const std::size_t size = real(item);
  return is_in(__builtin_return_address(0), "/rubato/") && fails(Kind::kRecord) ? size + 8 : size;
}

INTERPOSED int open(const char* path, int flags, ...) {
  static const auto real = next(&open, "open");
  va_list words;
  va_start(words, flags);
  const mode_t mode = mode_of(flags, words);
  va_end(words);
  return path_fails(path) ? -1 : noted(real(path, flags, mode), path);
}

INTERPOSED int open64(const char* path, int flags, ...) {
  static const auto real = next(&open64, "open64");
  va_list words;
  va_start(words, flags);
  const mode_t mode = mode_of(flags, words);
  va_end(words);
  return path_fails(path) ? -1 : noted(real(path, flags, mode), path);
}

INTERPOSED int close(int file) {
  static const auto real = next(&close, "close");
  if (file >= 0 && file < kMaxTracked) tracked[static_cast<std::size_t>(file)].store(false);
  return real(file);
}

INTERPOSED ssize_t write(int file, const void* bytes, std::size_t count) {
  static const auto real = next(&write, "write");
  return file_fails(file) ? -1 : real(file, bytes, count);
}

INTERPOSED ssize_t pwrite(int file, const void* bytes, std::size_t count, off_t at) {
  static const auto real = next(&pwrite, "pwrite");
  return file_fails(file) ? -1 : real(file, bytes, count, at);
}

INTERPOSED ssize_t pwrite64(int file, const void* bytes, std::size_t count, off64_t at) {
  static const auto real = next(&pwrite64, "pwrite64");
  return file_fails(file) ? -1 : real(file, bytes, count, at);
}

INTERPOSED int fsync(int file) {
  static const auto real = next(&fsync, "fsync");
  return file_fails(file) ? -1 : real(file);
}

INTERPOSED int fdatasync(int file) {
  static const auto real = next(&fdatasync, "fdatasync");
  return file_fails(file) ? -1 : real(file);
}

INTERPOSED int ftruncate(int file, off_t length) noexcept {
  static const auto real = next(&ftruncate, "ftruncate");
  return file_fails(file) ? -1 : real(file, length);
}

INTERPOSED int ftruncate64(int file, off64_t length) noexcept {
  static const auto real = next(&ftruncate64, "ftruncate64");
  return file_fails(file) ? -1 : real(file, length);
}

INTERPOSED int rename(const char* from, const char* to) noexcept {
  static const auto real = next(&rename, "rename");
  return path_fails(to) ? -1 : real(from, to);
}

INTERPOSED int mkdir(const char* path, mode_t mode) noexcept {
  static const auto real = next(&mkdir, "mkdir");
  return path_fails(path) ? -1 : real(path, mode);
}
