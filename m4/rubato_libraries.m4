# SPDX-License-Identifier: GPL-2.0-or-later

# RUBATO_NEED_HEADER(HEADER, DEBIAN-PACKAGE): stops configure when HEADER is not found.
AC_DEFUN([RUBATO_NEED_HEADER], [
  AC_CHECK_HEADER([$1], [],
    [AC_MSG_ERROR([$1 is missing. On Debian it is in $2; 'contrib/quickstart deps' installs all of them.])])
])

# RUBATO_NEED_MODULE(VARIABLE, MODULE, DEBIAN-PACKAGE): the same for what has a pkg-config file.
AC_DEFUN([RUBATO_NEED_MODULE], [
  PKG_CHECK_MODULES([$1], [$2], [],
    [AC_MSG_ERROR([$2 is missing. On Debian it is in $3; 'contrib/quickstart deps' installs all of them.])])
])

# What every part needs.
AC_DEFUN([RUBATO_LIBRARIES], [
  RUBATO_NEED_MODULE([FMT], [fmt >= 9], [libfmt-dev])
  RUBATO_NEED_MODULE([SPDLOG], [spdlog >= 1.10], [libspdlog-dev])
  RUBATO_NEED_MODULE([JSON], [nlohmann_json >= 3.11], [nlohmann-json3-dev])
  RUBATO_NEED_MODULE([XXHASH], [libxxhash >= 0.8], [libxxhash-dev])
  RUBATO_NEED_MODULE([SQLITE], [sqlite3 >= 3.35], [libsqlite3-dev])
  # Not SQLiteCpp.h, which does not compile behind configure's own macro VERSION.
  RUBATO_NEED_HEADER([SQLiteCpp/Exception.h], [libsqlitecpp-dev])
  RUBATO_NEED_HEADER([eigen3/Eigen/Core], [libeigen3-dev])
  RUBATO_NEED_MODULE([NLOPT], [nlopt >= 2.7], [libnlopt-dev])
  RUBATO_NEED_HEADER([tl/expected.hpp], [libexpected-dev])
  RUBATO_NEED_HEADER([CLI/CLI.hpp], [libcli11-dev])
  # The simulator interpolates step times as those of Pollux and Sia do.
  RUBATO_NEED_HEADER([libqhull_r/qhull_ra.h], [libqhull-dev])
  AC_SUBST([QHULL_LIBS], [-lqhull_r])
])

# RUBATO_OPTIONAL(NAME, DESCRIPTION, CHECK-IF-WANTED): --with-NAME=yes|no|check.
# CHECK-IF-WANTED sets rubato_found to yes or no, and NAME_CFLAGS and NAME_LIBS. Sets with_NAME to
# yes or no and the condition HAVE_NAME.
AC_DEFUN([RUBATO_OPTIONAL], [
  AC_ARG_WITH([$1], [AS_HELP_STRING([--with-$1=yes|no|check], [$2 @<:@check@:>@])], [], [with_$1=check])
  AS_CASE([$with_$1], [yes|no|check], [],
    [AC_MSG_ERROR([--with-$1=$with_$1: say yes, no or check])])
  AS_IF([test "x$with_$1" != xno], [
    rubato_found=no
    $3
    AS_IF([test $rubato_found = yes], [with_$1=yes],
          [test "x$with_$1" = xyes], [AC_MSG_ERROR([--with-$1 was asked for, but $1 was not found])],
          [with_$1=no])
  ])
  AM_CONDITIONAL(m4_toupper([HAVE_$1]), [test "x$with_$1" = xyes])
])

# What only some parts need: tests and benchmarks.
AC_DEFUN([RUBATO_OPTIONAL_LIBRARIES], [
  RUBATO_OPTIONAL([glpk], [compare the solvers of the simulator with GLPK in tests], [
    AC_CHECK_HEADER([glpk.h], [AC_CHECK_LIB([glpk], [glp_interior], [rubato_found=yes; GLPK_LIBS=-lglpk])])
    AS_IF([test $rubato_found = no], [AC_MSG_NOTICE([no GLPK (on Debian in libglpk-dev): no test compares the solvers with it])])
    AC_SUBST([GLPK_LIBS])
  ])
  AS_IF([test "x$with_glpk" = xyes], [AC_DEFINE([HAVE_GLPK], [1], [Define to 1 if tests link GLPK.])])
  RUBATO_OPTIONAL([gtest], [build the tests, which need GoogleTest and GoogleMock],
    [PKG_CHECK_MODULES([GTEST], [gtest >= 1.12 gmock >= 1.12], [rubato_found=yes], [:])])
  RUBATO_OPTIONAL([rapidcheck], [build the property tests], [
    AC_MSG_CHECKING([for rapidcheck])
    rubato_saved_LIBS=$LIBS
    LIBS="-lrapidcheck $LIBS"
    AC_LINK_IFELSE([AC_LANG_PROGRAM([[#include <rapidcheck.h>]], [[rc::check("a", [] {});]])],
      [rubato_found=yes; RAPIDCHECK_LIBS=-lrapidcheck])
    LIBS=$rubato_saved_LIBS
    AC_MSG_RESULT([$rubato_found])
    AC_SUBST([RAPIDCHECK_LIBS])
  ])
  RUBATO_OPTIONAL([benchmark], [build the benchmarks, which need Google Benchmark],
    [PKG_CHECK_MODULES([BENCHMARK], [benchmark >= 1.7], [rubato_found=yes], [:])])
])
