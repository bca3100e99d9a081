// SPDX-License-Identifier: GPL-2.0-or-later
// Clang's thread-safety attributes (-Wthread-safety). Other compilers see nothing.
#pragma once

#if defined(__clang__)
#define RUBATO_THREAD_ATTRIBUTE(x) __attribute__((x))
#else
#define RUBATO_THREAD_ATTRIBUTE(x)
#endif

/// A class that can be held, such as a mutex.
#define RUBATO_CAPABILITY(name) RUBATO_THREAD_ATTRIBUTE(capability(name))
/// A class that holds a capability during its lifetime.
#define RUBATO_SCOPED_CAPABILITY RUBATO_THREAD_ATTRIBUTE(scoped_lockable)
/// A field that is read and written only while `mutex` is held.
#define RUBATO_GUARDED_BY(mutex) RUBATO_THREAD_ATTRIBUTE(guarded_by(mutex))
/// A function that is called only while the mutexes are held.
#define RUBATO_REQUIRES(...) RUBATO_THREAD_ATTRIBUTE(requires_capability(__VA_ARGS__))
/// A function that is called only while the mutexes are not held.
#define RUBATO_EXCLUDES(...) RUBATO_THREAD_ATTRIBUTE(locks_excluded(__VA_ARGS__))
#define RUBATO_ACQUIRE(...) RUBATO_THREAD_ATTRIBUTE(acquire_capability(__VA_ARGS__))
#define RUBATO_UNLOCKS(...) RUBATO_THREAD_ATTRIBUTE(release_capability(__VA_ARGS__))
