# SPDX-License-Identifier: GPL-2.0-or-later

# --with-slurm-source=DIR and --with-plugindir=DIR. The sched, select and job_submit plugins are
# built only against the configured source of exactly the Slurm that will load them.
AC_DEFUN([RUBATO_SLURM_SOURCE], [
  AC_ARG_WITH([slurm-source],
    [AS_HELP_STRING([--with-slurm-source=DIR],
       [configured source tree of the installed Slurm; without it no plugin is built])],
    [], [with_slurm_source=no])
  AC_ARG_WITH([plugindir],
    [AS_HELP_STRING([--with-plugindir=DIR], [where the plugins go @<:@LIBDIR/rubato/slurm-VERSION@:>@])],
    [], [with_plugindir=])

  SLURM_SOURCE=
  SLURM_VERSION=
  AS_CASE([$with_slurm_source],
    [no], [],
    [yes], [AC_MSG_ERROR([--with-slurm-source needs a folder; 'contrib/quickstart deps' makes one and prints its name])],
    [
      AC_MSG_CHECKING([for the configured Slurm source])
      SLURM_SOURCE=$(cd "$with_slurm_source" 2>/dev/null && pwd)
      AS_IF([test -z "$SLURM_SOURCE"],
        [AC_MSG_ERROR([--with-slurm-source=$with_slurm_source: no such folder. 'contrib/quickstart deps' fetches and configures the source of the installed Slurm and prints where it is.])])
      for rubato_file in config.h slurm/slurm_version.h src/slurmctld/slurmctld.h; do
        AS_IF([test -f "$SLURM_SOURCE/$rubato_file"], [],
          [AC_MSG_ERROR([$SLURM_SOURCE has no $rubato_file, so it is not a configured Slurm source. Run ./configure there, or use 'contrib/quickstart deps', which prints a folder that is ready.])])
      done
      SLURM_VERSION=$($SED -n 's/^#define SLURM_VERSION_STRING "\(.*\)"/\1/p' "$SLURM_SOURCE/config.h")
      AS_IF([test -n "$SLURM_VERSION"], [], [AC_MSG_ERROR([$SLURM_SOURCE/config.h names no SLURM_VERSION_STRING])])
      AS_CASE([$SLURM_VERSION], [22.05.*|24.11.*], [],
        [AC_MSG_ERROR([$SLURM_SOURCE is Slurm $SLURM_VERSION; the plugins are written for 22.05 and 24.11. Without --with-slurm-source the library, the commands and the SPANK plugin are built.])])
      AC_MSG_RESULT([$SLURM_VERSION in $SLURM_SOURCE])
    ])
  AS_IF([test -n "$SLURM_SOURCE"], [
    AS_IF([test $enable_fuzzing = yes],
      [AC_MSG_ERROR([--enable-fuzzing is for lib/ and test/fuzz: leave --with-slurm-source out])])
    AS_VAR_APPEND([DISTCHECK_FLAGS], [" --with-slurm-source=$SLURM_SOURCE"])
  ])
  AS_CASE([$with_plugindir],
    [""|/*], [], [AC_MSG_ERROR([--with-plugindir=$with_plugindir: give an absolute path])])
  rubatoplugindir=$with_plugindir
  AS_IF([test -z "$rubatoplugindir"], [rubatoplugindir="\${libdir}/rubato/slurm-$SLURM_VERSION"])
  AC_SUBST([SLURM_SOURCE])
  AC_SUBST([SLURM_VERSION])
  AC_SUBST([rubatoplugindir])
  AM_CONDITIONAL([BUILD_PLUGINS], [test -n "$SLURM_SOURCE"])
])

# --with-spank: the SPANK plugin needs no more than slurm/spank.h. Without a Slurm source its folder is
# named after the release of that header.
AC_DEFUN([RUBATO_SPANK], [
  RUBATO_OPTIONAL([spank], [build the SPANK plugin, which needs slurm/spank.h (libslurm-dev)], [
    AS_IF([test $enable_fuzzing = no], [AC_CHECK_HEADER([slurm/spank.h], [
      AC_COMPUTE_INT([rubato_number], [SLURM_VERSION_NUMBER], [[#include <slurm/slurm_version.h>]], [rubato_number=0])
      AS_IF([test $rubato_number -gt 0], [
        rubato_found=yes
        SPANK_SLURM_VERSION=$(printf '%d.%02d.%d' $((rubato_number >> 16 & 255)) $((rubato_number >> 8 & 255)) $((rubato_number & 255)))
        AS_IF([test -z "$with_plugindir$SLURM_SOURCE"],
          [rubatoplugindir="\${libdir}/rubato/slurm-$SPANK_SLURM_VERSION"])
      ])
    ])])
  ])
  AC_SUBST([SPANK_SLURM_VERSION])
  # What every host loads links the C++ run-time statically. Sanitizers need the shared one.
  RUBATO_STATIC_RUNTIME=
  AS_CASE(["$enable_asan$enable_tsan$enable_ubsan"], [*yes*], [], [
    AC_MSG_CHECKING([for static libstdc++ and libgcc_eh])
    rubato_saved_LIBS=$LIBS
    LIBS="-l:libstdc++.a -l:libgcc_eh.a -l:libgcc.a $LIBS"
    AC_LINK_IFELSE([AC_LANG_PROGRAM([[#include <string>]], [[throw std::string("x");]])],
      [RUBATO_STATIC_RUNTIME="-l:libstdc++.a -l:libgcc_eh.a -l:libgcc.a"
       AC_MSG_RESULT([yes])], [AC_MSG_RESULT([no])])
    LIBS=$rubato_saved_LIBS
  ])
  AC_SUBST([RUBATO_STATIC_RUNTIME])
])
