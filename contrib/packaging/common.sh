# SPDX-License-Identifier: GPL-2.0-or-later
# What build-packages and build-rpms share. Source it; it sets TREE.
# shellcheck shell=bash disable=SC2034  # the facts are for the script that sources this

TREE=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)

fail() {
  printf '%s: %s\n' "${0##*/}" "$*" >&2
  exit 1
}

# read_facts SOURCE: versions of Rubato and of the Slurm in SOURCE, whose absolute name is then in SOURCE.
# Slurm's plugins fit one release (VERSION 22.05.8, below NEXT 22.05.9); the SPANK plugin fits all of a SERIES (22.05,
# below NEXTSERIES 22.06).
read_facts() {
  [[ -f $1/config.h ]] || fail "$1: no configured source of Slurm"
  SOURCE=$(cd "$1" && pwd)
  VERSION=$(sed -n 's/^#define SLURM_VERSION_STRING "\(.*\)"/\1/p' "$SOURCE/config.h")
  [[ $VERSION =~ ^([0-9]+)\.([0-9]+)\.([0-9]+)$ ]] || fail "$SOURCE is Slurm '$VERSION', which is no release"
  SERIES=${BASH_REMATCH[1]}.${BASH_REMATCH[2]}
  NEXT=$SERIES.$((10#${BASH_REMATCH[3]} + 1))
  NEXTSERIES=${BASH_REMATCH[1]}.$(printf '%02d' $((10#${BASH_REMATCH[2]} + 1)))
  RUBATO=$(sed -n 's/^AC_INIT(\[Rubato\], \[\([0-9.]*\)\].*/\1/p' "$TREE/configure.ac")
}

# copy_tree TO: the tree without what a build, a test or an editor left in it.
copy_tree() {
  mkdir -p "$1"
  tar -C "$TREE" -c --exclude-vcs --exclude-backups --exclude='./build*' --exclude=./autom4te.cache \
    --exclude=./configure --exclude=./aclocal.m4 --exclude=./Makefile.in --exclude=./rubato_config.h.in \
    --exclude=./m4/libtool.m4 --exclude='./m4/lt*.m4' --exclude=__pycache__ . | tar -C "$1" -x --no-same-owner
  mkdir -p "$1/build-aux"
}

# Where the kernel permits it, a build runs without any network.
ALONE=()
if unshare --net true 2> /dev/null; then ALONE=(unshare --net); fi
