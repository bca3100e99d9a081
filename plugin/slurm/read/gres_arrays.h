// SPDX-License-Identifier: GPL-2.0-or-later
// The arrays in the GRES records of jobs and steps, which have an element per node of the job.
#pragma once

#include <string>
#include <vector>

#include "plugin/slurm/release/slurm_headers.h"

namespace rubato {

/// GRES `plugin` of a node; null if it has none.
[[nodiscard]] const gres_node_state_t* gres_of_node(const node_record_t& node,
                                                    std::uint32_t plugin) noexcept;

/// Whether a list of GRES of a job has shards or MPS; null has none.
[[nodiscard]] bool has_shared_gres(list_t* gres);

/// Whether a job holds nodes: it runs or is suspended, and its records of them are there.
[[nodiscard]] bool holds_nodes(const job_record_t& job);

/// Whether `allocated`, of gres_list_alloc, holds what `request`, of gres_list_req, asked for. A
/// job does not mix requests with and without a type.
[[nodiscard]] bool is_allocated_for(const gres_state_t& allocated,
                                    const gres_state_t& request) noexcept;

/// Whether the arrays of `request`, of gres_list_req, follow from gres_list_alloc: it is consumed,
/// not shared, and what it got has an element per node of the job.
[[nodiscard]] bool has_arrays_for(const gres_state_t& request, const job_record_t& job) noexcept;

/// Compares the GRES records of nodes, jobs and steps. A line for each contradiction: a node
/// counts other GRES as taken than its jobs hold, or two jobs hold the same; the request of a job
/// has other arrays than its allocation; a job counts other GRES as used than its steps use. Needs
/// LockKind::kLook.
[[nodiscard]] std::vector<std::string> gres_contradictions();

}  // namespace rubato
