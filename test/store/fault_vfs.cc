// SPDX-License-Identifier: GPL-2.0-or-later
#include "test/store/fault_vfs.h"

#include <sqlite3.h>
#include <unistd.h>

#include <condition_variable>
#include <cstring>
#include <mutex>
#include <new>

namespace rubato::test {
namespace {

constexpr const char* kName = "rubato-fault";

struct Control {
  std::mutex mutex;
  std::condition_variable released;
  bool set = false;
  FaultPoint point{};
  FaultKind kind{};
  int nth = 0;
  bool forever = false;
  int calls = 0;
  int hits = 0;
  int hung = 0;
  std::uint64_t generation = 0;
};

/// Never destroyed: a hung thread may outlive main().
Control& control() {
  static Control* const kControl = new Control;
  return *kControl;
}

/// Counts a call of `point`. True: it must fail.
bool fails(FaultPoint point) {
  Control& c = control();
  std::unique_lock lock(c.mutex);
  if (!c.set || c.point != point) return false;
  ++c.calls;
  if (c.calls < c.nth || (c.calls > c.nth && !c.forever)) return false;
  ++c.hits;
  if (c.kind == FaultKind::kExit) ::_exit(0);
  if (c.kind == FaultKind::kError) return true;
  const std::uint64_t generation = c.generation;
  ++c.hung;
  c.released.wait(lock, [&] { return c.generation != generation; });
  --c.hung;
  return false;
}

/// Our file, followed by the system's file in the same memory block.
struct File {
  sqlite3_file base;
  sqlite3_file* system;
};

sqlite3_vfs* system_vfs(sqlite3_vfs* vfs) { return static_cast<sqlite3_vfs*>(vfs->pAppData); }
sqlite3_file* system_of(sqlite3_file* file) { return reinterpret_cast<File*>(file)->system; }
const sqlite3_io_methods* methods_of(sqlite3_file* file) { return system_of(file)->pMethods; }

int file_close(sqlite3_file* file) { return methods_of(file)->xClose(system_of(file)); }

int file_read(sqlite3_file* file, void* data, int count, sqlite3_int64 offset) {
  if (fails(FaultPoint::kRead)) return SQLITE_IOERR_READ;
  const int code = methods_of(file)->xRead(system_of(file), data, count, offset);
  if (fails(FaultPoint::kShortRead)) {
    std::memset(static_cast<char*>(data) + count / 2, 0,
                static_cast<std::size_t>(count - count / 2));
    return SQLITE_IOERR_SHORT_READ;
  }
  return code;
}

int file_write(sqlite3_file* file, const void* data, int count, sqlite3_int64 offset) {
  if (fails(FaultPoint::kWrite)) {
    // Half of the data reaches the disk, as on a failing machine.
    methods_of(file)->xWrite(system_of(file), data, count / 2, offset);
    return SQLITE_IOERR_WRITE;
  }
  if (fails(FaultPoint::kFullWrite)) return SQLITE_FULL;
  return methods_of(file)->xWrite(system_of(file), data, count, offset);
}

int file_truncate(sqlite3_file* file, sqlite3_int64 size) {
  if (fails(FaultPoint::kTruncate)) return SQLITE_IOERR_TRUNCATE;
  return methods_of(file)->xTruncate(system_of(file), size);
}

int file_sync(sqlite3_file* file, int flags) {
  if (fails(FaultPoint::kSync)) return SQLITE_IOERR_FSYNC;
  return methods_of(file)->xSync(system_of(file), flags);
}

int file_size(sqlite3_file* file, sqlite3_int64* size) {
  if (fails(FaultPoint::kFileSize)) return SQLITE_IOERR_FSTAT;
  return methods_of(file)->xFileSize(system_of(file), size);
}

int file_lock(sqlite3_file* file, int level) {
  if (fails(FaultPoint::kLock)) return SQLITE_IOERR_LOCK;
  return methods_of(file)->xLock(system_of(file), level);
}

int file_unlock(sqlite3_file* file, int level) {
  return methods_of(file)->xUnlock(system_of(file), level);
}

int file_check_reserved(sqlite3_file* file, int* result) {
  return methods_of(file)->xCheckReservedLock(system_of(file), result);
}

int file_control(sqlite3_file* file, int operation, void* argument) {
  return methods_of(file)->xFileControl(system_of(file), operation, argument);
}

int file_sector_size(sqlite3_file* file) { return methods_of(file)->xSectorSize(system_of(file)); }

int file_characteristics(sqlite3_file* file) {
  return methods_of(file)->xDeviceCharacteristics(system_of(file));
}

int file_shm_map(sqlite3_file* file, int page, int size, int extend, void volatile** memory) {
  if (fails(FaultPoint::kShmMap)) return SQLITE_IOERR_SHMMAP;
  return methods_of(file)->xShmMap(system_of(file), page, size, extend, memory);
}

int file_shm_lock(sqlite3_file* file, int offset, int count, int flags) {
  // Releasing a lock never fails.
  const bool locks = (flags & SQLITE_SHM_LOCK) != 0;
  if (locks && fails(FaultPoint::kShmLock)) return SQLITE_IOERR_SHMLOCK;
  return methods_of(file)->xShmLock(system_of(file), offset, count, flags);
}

void file_shm_barrier(sqlite3_file* file) { methods_of(file)->xShmBarrier(system_of(file)); }

int file_shm_unmap(sqlite3_file* file, int remove) {
  return methods_of(file)->xShmUnmap(system_of(file), remove);
}

// Version 2: no memory-mapped reads, which would bypass file_read.
constexpr sqlite3_io_methods kMethods = {2,
                                         file_close,
                                         file_read,
                                         file_write,
                                         file_truncate,
                                         file_sync,
                                         file_size,
                                         file_lock,
                                         file_unlock,
                                         file_check_reserved,
                                         file_control,
                                         file_sector_size,
                                         file_characteristics,
                                         file_shm_map,
                                         file_shm_lock,
                                         file_shm_barrier,
                                         file_shm_unmap,
                                         nullptr,
                                         nullptr};

int vfs_open(sqlite3_vfs* vfs, const char* name, sqlite3_file* file, int flags, int* out_flags) {
  file->pMethods = nullptr;
  if (fails(FaultPoint::kOpen)) return SQLITE_CANTOPEN;
  File* ours = new (file) File{};
  ours->system = reinterpret_cast<sqlite3_file*>(ours + 1);
  const int code = system_vfs(vfs)->xOpen(system_vfs(vfs), name, ours->system, flags, out_flags);
  if (ours->system->pMethods != nullptr) ours->base.pMethods = &kMethods;
  return code;
}

int vfs_delete(sqlite3_vfs* vfs, const char* name, int sync_folder) {
  if (fails(FaultPoint::kDelete)) return SQLITE_IOERR_DELETE;
  return system_vfs(vfs)->xDelete(system_vfs(vfs), name, sync_folder);
}

int vfs_access(sqlite3_vfs* vfs, const char* name, int flags, int* result) {
  if (fails(FaultPoint::kAccess)) return SQLITE_IOERR_ACCESS;
  return system_vfs(vfs)->xAccess(system_vfs(vfs), name, flags, result);
}

}  // namespace

const char* to_string(FaultPoint point) {
  constexpr std::array<const char*, static_cast<std::size_t>(FaultPoint::kCount)> kNames = {
      "open",      "read", "short-read", "write",  "full-write", "sync",    "truncate",
      "file-size", "lock", "delete",     "access", "shm-map",    "shm-lock"};
  return kNames.at(static_cast<std::size_t>(point));
}

const std::string& fault_vfs() {
  static const std::string kRegistered = [] {
    sqlite3_vfs* system = sqlite3_vfs_find(nullptr);
    static sqlite3_vfs vfs = *system;  // functions not replaced below are the system's
    vfs.zName = kName;
    vfs.pNext = nullptr;
    vfs.pAppData = system;
    vfs.szOsFile = static_cast<int>(sizeof(File)) + system->szOsFile;
    vfs.xOpen = vfs_open;
    vfs.xDelete = vfs_delete;
    vfs.xAccess = vfs_access;
    sqlite3_vfs_register(&vfs, 0);
    return std::string(kName);
  }();
  return kRegistered;
}

void set_fault(FaultPoint point, int nth, FaultKind kind, bool forever) {
  Control& c = control();
  const std::lock_guard lock(c.mutex);
  c.set = true;
  c.point = point;
  c.kind = kind;
  c.nth = nth;
  c.forever = forever;
  c.calls = c.hits = 0;
}

void clear_fault() {
  const std::lock_guard lock(control().mutex);
  control().set = false;
}

int fault_hits() {
  const std::lock_guard lock(control().mutex);
  return control().hits;
}

void release_hung() {
  Control& c = control();
  const std::lock_guard lock(c.mutex);
  c.set = false;
  ++c.generation;
  c.released.notify_all();
}

int hung_calls() {
  const std::lock_guard lock(control().mutex);
  return control().hung;
}

}  // namespace rubato::test
