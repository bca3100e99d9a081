# SPDX-License-Identifier: GPL-2.0-or-later

AC_DEFUN([RUBATO_SUMMARY], [
  rubato_where=-
  AS_IF([test -n "$SLURM_SOURCE"], [rubato_plugins="sched, select, job_submit for Slurm $SLURM_VERSION"],
    [rubato_plugins="none (no --with-slurm-source)"])
  AS_IF([test "x$with_spank" = xyes], [rubato_spank="spank_rubato for Slurm $SPANK_SLURM_VERSION"],
    [rubato_spank="not built"])
  AS_IF([test -n "$SLURM_SOURCE" || test "x$with_spank" = xyes],
    [# Opens ${libdir} and what it is made of; configure leaves NONE for a prefix not given.
     rubato_where=$(test "$prefix" = NONE && prefix=$ac_default_prefix
       test "$exec_prefix" = NONE && exec_prefix=$prefix
       for rubato_step in 1 2 3 4; do eval "rubatoplugindir=$rubatoplugindir"; done; echo "$rubatoplugindir")])
  cat <<EOF

Configuration results
  version           $PACKAGE_VERSION
  prefix            $(test "$prefix" = NONE && echo $ac_default_prefix || echo "$prefix")
  plugins           $rubato_plugins
  SPANK plugin      $rubato_spank
  plugin folder     $rubato_where
  Slurm source      ${SLURM_SOURCE:--}
  compiler          $CXX
  flags             $CXXFLAGS
  tests             gtest $with_gtest, rapidcheck $with_rapidcheck, benchmark $with_benchmark
  sanitizers        asan $enable_asan, tsan $enable_tsan, ubsan $enable_ubsan, fuzzing $enable_fuzzing
  coverage          $enable_code_coverage
  precompiled       $enable_precompiled
  warnings          $(test $enable_werror = yes && echo errors || echo reported)

EOF
])
