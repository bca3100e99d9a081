#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Makes ./configure. Run it once after a checkout, then configure out of the tree (see HACKING.md).
set -euo pipefail
cd "$(dirname "$0")"
for tool in autoconf automake libtoolize pkg-config; do
  command -v "$tool" >/dev/null || {
    echo "autogen.sh: $tool is missing; 'contrib/quickstart deps' installs what the build needs" >&2
    exit 1
  }
done
exec autoreconf --install
