# SPDX-License-Identifier: GPL-2.0-or-later

# RUBATO_SWITCH(NAME, DESCRIPTION): --enable-NAME, off by default; sets enable_NAME with '-' as '_'.
AC_DEFUN([RUBATO_SWITCH], [
  AC_ARG_ENABLE([$1], [AS_HELP_STRING([--enable-$1], [$2])], [], [AS_TR_SH([enable_$1])=no])
  AS_CASE([$AS_TR_SH([enable_$1])], [yes|no], [], [AC_MSG_ERROR([--enable-$1: say yes or no])])
])

AC_DEFUN([RUBATO_SANITIZERS], [
  RUBATO_SWITCH([asan], [build with AddressSanitizer])
  RUBATO_SWITCH([tsan], [build with ThreadSanitizer (for lib/ and its tests, not inside slurmctld)])
  RUBATO_SWITCH([ubsan], [build with UndefinedBehaviorSanitizer])
  RUBATO_SWITCH([fuzzing], [build test/fuzz with libFuzzer; needs CXX=clang++])
  RUBATO_SWITCH([code-coverage], [build with gcov counters; 'make coverage' prints the share of lines reached])
  RUBATO_SWITCH([werror], [make compiler warnings errors])
  AS_IF([test $enable_asan$enable_tsan = yesyes],
    [AC_MSG_ERROR([--enable-asan and --enable-tsan exclude each other])])

  SANITIZER_FLAGS=
  AS_IF([test $enable_asan = yes], [AS_VAR_APPEND([SANITIZER_FLAGS], [" -fsanitize=address"])])
  AS_IF([test $enable_tsan = yes], [AS_VAR_APPEND([SANITIZER_FLAGS], [" -fsanitize=thread"])])
  # No vptr check: it would need type information of slurmctld's side at load time.
  AS_IF([test $enable_ubsan = yes],
    [AS_VAR_APPEND([SANITIZER_FLAGS], [" -fsanitize=undefined -fno-sanitize=vptr -fno-sanitize-recover=undefined"])])
  AS_IF([test -n "$SANITIZER_FLAGS"], [AS_VAR_APPEND([SANITIZER_FLAGS], [" -fno-omit-frame-pointer"])])

  # Told on to the build that `make distcheck` makes.
  DISTCHECK_FLAGS=
  AS_IF([test $enable_werror = yes], [DISTCHECK_FLAGS=--enable-werror])
  AC_SUBST([DISTCHECK_FLAGS])

  FUZZ_FLAGS=
  FUZZ_LINK_FLAGS=
  AS_IF([test $enable_fuzzing = yes], [
    AX_CHECK_LINK_FLAG([-fsanitize=fuzzer-no-link], [],
      [AC_MSG_ERROR([--enable-fuzzing needs a compiler with libFuzzer: configure with CXX=clang++])])
    FUZZ_FLAGS="-fsanitize=fuzzer-no-link"
    FUZZ_LINK_FLAGS="-fsanitize=fuzzer"
  ])
  COVERAGE_FLAGS=
  AS_IF([test $enable_code_coverage = yes], [COVERAGE_FLAGS="--coverage"])
  AC_SUBST([SANITIZER_FLAGS])
  AC_SUBST([FUZZ_FLAGS])
  AC_SUBST([FUZZ_LINK_FLAGS])
  AC_SUBST([COVERAGE_FLAGS])
  AM_CONDITIONAL([FUZZING], [test $enable_fuzzing = yes])
  AM_CONDITIONAL([CODE_COVERAGE], [test $enable_code_coverage = yes])
])

# Precompiled headers: GCC takes one only if it was made with the same options, so a compiler cache or clang goes
# without.
AC_DEFUN([RUBATO_PRECOMPILED], [
  AC_ARG_ENABLE([precompiled],
    [AS_HELP_STRING([--disable-precompiled], [parse all headers in each source; default with clang and with ccache])],
    [], [enable_precompiled=auto])
  AS_IF([test "$enable_precompiled" = auto], [
    AS_CASE([$CXX], [*ccache*|*clang*], [enable_precompiled=no], [enable_precompiled=$GXX])
    # GCC warns of "#pragma once" in the file that it precompiles, and has no option against that.
    AS_IF([test $enable_werror = yes], [enable_precompiled=no])])
  AS_CASE([$enable_precompiled], [yes], [], [enable_precompiled=no])
  AM_CONDITIONAL([PRECOMPILED], [test $enable_precompiled = yes])
])

AC_DEFUN([RUBATO_COMPILER_FLAGS], [
  WARNING_FLAGS=
  # Not -Wnull-dereference: GCC 12 reports paths through inlined library code that cannot be taken.
  AX_APPEND_COMPILE_FLAGS([-Wall -Wextra -Wshadow -Wnon-virtual-dtor -Woverloaded-virtual dnl
    -Wcast-align -Wduplicated-cond -Wlogical-op -Wformat=2 -Wredundant-decls -Wextra-semi], dnl
    [WARNING_FLAGS], [-Werror])
  # Sanitizers add branches that make GCC warn inside the standard library's own headers.
  AS_IF([test -n "$SANITIZER_FLAGS"],
    [AX_APPEND_COMPILE_FLAGS([-Wno-maybe-uninitialized], [WARNING_FLAGS], [-Werror])])
  AS_IF([test $enable_werror = yes], [AS_VAR_APPEND([WARNING_FLAGS], [" -Werror"])])

  HARDENING_FLAGS=
  HARDENING_LINK_FLAGS=
  AX_APPEND_COMPILE_FLAGS([-fstack-protector-strong -fstack-clash-protection], [HARDENING_FLAGS], [-Werror])
  AX_APPEND_LINK_FLAGS([-Wl,-z,relro -Wl,-z,noexecstack], [HARDENING_LINK_FLAGS])
  # _FORTIFY_SOURCE hides errors from the sanitizers and means nothing without optimisation.
  AS_CASE(["$SANITIZER_FLAGS$COVERAGE_FLAGS $CXXFLAGS $CPPFLAGS "],
    [*-fsanitize=*|*--coverage*|*_FORTIFY_SOURCE*|*-O0*], [],
    [*-O*], [AS_VAR_APPEND([HARDENING_FLAGS], [" -D_FORTIFY_SOURCE=2"])])
  # slurmd and slurmstepd load the select plugin too, where slurmctld's functions do not exist: they
  # must bind at the first call. Given last, so that it wins over a packager's -z now.
  PLUGIN_BINDING="-Wl,-z,lazy"
  AC_SUBST([WARNING_FLAGS])
  AC_SUBST([HARDENING_FLAGS])
  AC_SUBST([HARDENING_LINK_FLAGS])
  AC_SUBST([PLUGIN_BINDING])
])
