// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/base/thread.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <exception>
#include <memory>
#include <system_error>
#include <utility>
#include <vector>

#include "lib/base/mutex.h"

namespace rubato {

namespace {

std::size_t guard_bytes() { return static_cast<std::size_t>(sysconf(_SC_PAGESIZE)); }

std::size_t mapped_bytes() { return guard_bytes() + kThreadStackBytes; }

struct Unmap {
  void operator()(void* stack) const { munmap(stack, mapped_bytes()); }
};
using Stack = std::unique_ptr<void, Unmap>;

void check(int error, const char* what) {
  if (error != 0) throw std::system_error(error, std::generic_category(), what);
}

/// The lowest page is not accessible: stacks grow down, and an overflow ends there.
Stack map_stack() {
  void* const stack = mmap(nullptr, mapped_bytes(), PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK | MAP_NORESERVE, -1, 0);
  if (stack == MAP_FAILED) check(errno, "the stack of a thread");
  Stack owned(stack);
  if (mprotect(stack, guard_bytes(), PROT_NONE) != 0) check(errno, "the stack of a thread");
  return owned;
}

class Attributes {
 public:
  explicit Attributes(const Stack& stack) {
    check(pthread_attr_init(&value_), "the attributes of a thread");
    const int error =
        pthread_attr_setstack(&value_, static_cast<char*>(stack.get()) + guard_bytes(),  //
                              kThreadStackBytes);
    if (error != 0) pthread_attr_destroy(&value_);
    check(error, "the stack of a thread");
  }
  ~Attributes() { pthread_attr_destroy(&value_); }
  Attributes(const Attributes&) = delete;
  Attributes& operator=(const Attributes&) = delete;
  [[nodiscard]] const pthread_attr_t* get() const { return &value_; }

 private:
  pthread_attr_t value_{};
};

struct LeftBehind {
  pthread_t thread;
  void* stack;
};

Mutex left_mutex;
// Never destroyed: a thread that is left behind may outlive static objects.
std::vector<LeftBehind>& left_behind() RUBATO_REQUIRES(left_mutex) {
  static auto* const all = new std::vector<LeftBehind>;
  return *all;
}

void unmap_ended() {
  const MutexLock lock(left_mutex);
  std::erase_if(left_behind(), [](const LeftBehind& one) {
    if (pthread_tryjoin_np(one.thread, nullptr) != 0) return false;
    Unmap{}(one.stack);
    return true;
  });
}

void* run(void* argument) {
  const std::unique_ptr<std::function<void()>> body(static_cast<std::function<void()>*>(argument));
  (*body)();
  return nullptr;
}

}  // namespace

Thread::Thread(std::function<void()> body) {
  auto owned = std::make_unique<std::function<void()>>(std::move(body));
  unmap_ended();
  Stack stack = map_stack();
  const Attributes attributes(stack);
  check(pthread_create(&handle_, attributes.get(), run, owned.get()), "a thread");
  static_cast<void>(owned.release());  // the thread deletes it
  stack_ = stack.release();
}

Thread::Thread(Thread&& other) noexcept
    : handle_(other.handle_), stack_(std::exchange(other.stack_, nullptr)) {}

Thread& Thread::operator=(Thread&& other) noexcept {
  if (joinable()) std::terminate();
  handle_ = other.handle_;
  stack_ = std::exchange(other.stack_, nullptr);
  return *this;
}

Thread::~Thread() {
  if (joinable()) std::terminate();
}

void Thread::join() {
  pthread_join(handle_, nullptr);
  const Stack stack(std::exchange(stack_, nullptr));
}

void Thread::detach() noexcept {
  void* const stack = std::exchange(stack_, nullptr);
  try {
    const MutexLock lock(left_mutex);
    left_behind().push_back({handle_, stack});
  } catch (const std::exception&) {
    pthread_detach(handle_);  // its stack stays mapped
  }
}

}  // namespace rubato
