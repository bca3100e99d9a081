// SPDX-License-Identifier: GPL-2.0-or-later
// slurm/spank.h declares a plugin's entry points outside its extern "C".
#pragma once

#include <sys/types.h>
#include <unistd.h>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

extern "C" {
#include <slurm/spank.h>
}
