// SPDX-License-Identifier: GPL-2.0-or-later
// Slurm's return codes that Rubato uses, without Slurm's headers. A static_assert compares them.
#pragma once

namespace rubato {

inline constexpr int kSlurmSuccess = 0;
inline constexpr int kSlurmError = -1;
/// ESLURM_ACCESS_DENIED: "Access/permission denied".
inline constexpr int kAccessDenied = 2002;
/// ESLURM_JOB_NOT_RUNNING: "Job is not running".
inline constexpr int kJobNotRunning = 2085;
/// ESLURM_JOB_SUSPENDED: "Job is current suspended, requested operation disabled".
inline constexpr int kJobSuspended = 2077;
/// ESLURM_NOT_SUPPORTED: "Requested operation not supported on this system".
inline constexpr int kNotSupported = 2036;

}  // namespace rubato
