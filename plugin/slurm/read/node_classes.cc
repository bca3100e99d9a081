// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugin/slurm/read/node_classes.h"

#include <memory>

namespace rubato {

namespace {

// Limit for sites where each job names its own nodes: there each job is a class.
constexpr std::size_t kMaxClasses = 4096;

std::string text(const char* words) { return words != nullptr ? words : ""; }

struct BitmapFree {
  void operator()(bitstr_t* bits) const { bit_free(bits); }
};
using Bitmap = std::unique_ptr<bitstr_t, BitmapFree>;

bool nodes_have_owners() {
  for (int i = 0; i < node_record_count; ++i)
    if (node_record_table_ptr[i] != nullptr && node_record_table_ptr[i]->owner != NO_VAL)
      return true;
  return false;
}

// --exclusive=user, or a partition with that setting: no node with jobs of other users.
bool exclusive_user(const SlurmQueueEntry& entry) {
  return entry.job->details->whole_node == WHOLE_NODE_USER ||
         (entry.part->flags & PART_FLAG_EXCLUSIVE_USER) != 0;
}

// A reservation's window is tested with --time-min, as stock backfill does.
std::uint32_t shortest_limit(const job_record_t& job) {
  const bool given = job.time_min != 0 && job.time_min != NO_VAL;
  return given ? std::min(job.time_min, job.time_limit) : job.time_limit;
}

// Its jobs may start before it does, and use other nodes as well (Flags=FLEX). Slurm moves one that
// repeats on when it is looked up, so that one counts as a plain reservation here.
bool is_flexible(const slurmctld_resv_t* reservation) {
  return (reservation->flags & RESERVE_FLAG_FLEX) != 0 &&
         (reservation->flags & RESERVE_REOCCURING) == 0;
}

}  // namespace

bool NodeClasses::begin(const NodeNumbers& index, std::vector<NodeSet>& sets) {
  index_ = &index;
  node_sets_ = &sets;
  set_indices_.clear();
  const bool any_reservation = resv_list != nullptr && list_count(resv_list) > 0;
  const bool any_owner = nodes_have_owners();
  const bool stale =
      any_reservation != any_reservation_ || any_owner != any_owner_ || ids_.size() > kMaxClasses;
  any_reservation_ = any_reservation;
  any_owner_ = any_owner;
  if (stale) ids_.clear();
  sets_.assign(ids_.size(), std::nullopt);
  return stale;
}

NodeSetIndex NodeClasses::set_index(const bitstr_t* bitmap) {
  NodeSet set = index_->set_of(bitmap);
  const auto [at, added] =
      set_indices_.try_emplace(std::move(set), NodeSetIndex{node_sets_->size()});
  if (added) node_sets_->push_back(at->first);
  return at->second;
}

NodeClasses::NodeMinimum NodeClasses::minimum_of(const struct job_details& details) {
  NodeMinimum least;
  least.tmp_disk = details.pn_min_tmp_disk;
  if (details.mc_ptr == nullptr) return least;
  const auto given = [](std::uint16_t count) {
    return count == NO_VAL16 ? std::uint16_t{0} : count;
  };
  least.sockets = given(details.mc_ptr->sockets_per_node);
  least.cores = given(details.mc_ptr->cores_per_socket);
  least.threads = given(details.mc_ptr->threads_per_core);
  return least;
}

NodeClassIndex NodeClasses::class_of(const SlurmQueueEntry& entry) {
  const job_record_t& job = *entry.job;
  const struct job_details& details = *job.details;
  const bool own_nodes = exclusive_user(entry);
  // Node owners depend on the user. A reservation's window depends on the time limit.
  Key key{entry.part,
          text(entry.use_prefer ? details.prefer : details.features),
          text(details.exc_nodes),
          text(details.req_nodes),
          entry.reservation != nullptr ? static_cast<const void*>(entry.reservation)
                                       : static_cast<const void*>(job.resv_ptr),
          any_owner_ || any_reservation_ || own_nodes ? job.user_id : 0,
          any_reservation_ ? shortest_limit(job) : 0,
          text(job.mcs_label),
          details.req_node_bitmap != nullptr ? details.min_nodes : 0,
          own_nodes,
          any_reservation_ ? details.whole_node : std::uint8_t{0},
          minimum_of(details),
          any_reservation_ && entry.may_borrow ? job.warn_time : -1};
  const auto [at, added] = ids_.try_emplace(std::move(key), NodeClassIndex{ids_.size()});
  if (added) sets_.emplace_back();
  return at->second;
}

const NodeClasses::Sets& NodeClasses::sets_of(NodeClassIndex class_id,
                                              const SlurmQueueEntry& entry) {
  std::optional<Sets>& sets = sets_[class_id];
  if (!sets) sets = add(entry);
  return *sets;
}

// Removes from `nodes` those that Slurm's reservations keep from the job. False if the job's own
// reservation is not active.
bool NodeClasses::apply_reservations(job_record_t& copy, bitstr_t* nodes) const {
  if (!any_reservation_) return copy.resv_name == nullptr;
  const time_t now = time(nullptr);
  if (copy.resv_name != nullptr) {
    // job_test_resv() would look up the reservation and write it to the job, or advance a recurring
    // one. Leave that to slurmctld's next cycle.
    const slurmctld_resv_t* own = copy.resv_ptr;
    if (own == nullptr) return false;
    const bool active = own->start_time <= now && own->end_time > now;
    if (!active && !is_flexible(own)) return false;
    copy.resv_id = own->resv_id;
  }
  time_t when = now;
  bitstr_t* open = nullptr;
  bitstr_t* excluded_cores = nullptr;
  bool overlap = false;
  const int rc = job_test_resv(&copy, &when, false, &open, &excluded_cores, &overlap, false);
  if (open != nullptr) bit_and(nodes, open);
  FREE_NULL_BITMAP(open);
  FREE_NULL_BITMAP(excluded_cores);
  return rc == SLURM_SUCCESS;
}

NodeClasses::Sets NodeClasses::add(const SlurmQueueEntry& entry) {
  // Works on a copy to keep the job unchanged: the filters read feature_list_use, which the
  // scheduler sets, and job_test_resv() writes its result to the job.
  job_record_t job = *entry.job;
  struct job_details details = *entry.job->details;
  job.details = &details;
  job.part_ptr = entry.part;
  details.features_use = entry.use_prefer ? details.prefer : details.features;
  details.feature_list_use = entry.use_prefer ? details.prefer_list : details.feature_list;
  // The capacity model tests cores and memory for each job; here they would confine the other jobs
  // of the class to the nodes of this one.
  details.pn_min_cpus = 0;
  details.pn_min_memory = 0;
  job.time_limit = shortest_limit(job);
  if (!entry.may_borrow) job.warn_flags &= static_cast<std::uint16_t>(~KILL_JOB_RESV);
  if (entry.reservation != nullptr) {
    job.resv_ptr = entry.reservation;
    job.resv_name = entry.reservation->name;
    job.resv_id = entry.reservation->resv_id;
  }

  Sets sets;
  const Bitmap later(bit_copy(entry.part->node_bitmap));
  if (details.exc_node_bitmap != nullptr) bit_and_not(later.get(), details.exc_node_bitmap);
  // Named nodes are all of the job's nodes unless it requests more (-w n1 -N2). Then only Slurm can
  // complete the set, and Slurm may reject the plan.
  if (details.req_node_bitmap != nullptr &&
      bit_set_count(details.req_node_bitmap) >= static_cast<int>(details.min_nodes))
    bit_and(later.get(), details.req_node_bitmap);
  if (details.feature_list_use != nullptr || minimum_of(details).any())
    (void)job_req_node_filter(&job, later.get(), true);
  if (job.resv_ptr != nullptr && job.resv_ptr->node_bitmap != nullptr && !is_flexible(job.resv_ptr))
    bit_and(later.get(), job.resv_ptr->node_bitmap);
  const Bitmap now(bit_copy(later.get()));
  sets.reservation_closed = !apply_reservations(job, now.get());
  filter_by_node_owner(&job, now.get());
  filter_by_node_mcs(&job, slurm_mcs_get_select(&job), now.get());
  sets.now = set_index(now.get());
  sets.later = set_index(later.get());
  return sets;
}

}  // namespace rubato
