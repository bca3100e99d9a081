// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugin/slurm/read/node_classes.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "plugin/slurm/release/differences.h"
#include "plugin/slurm/release/lists.h"

namespace rubato {

namespace {

// Limit for sites where each job names its own nodes: there each job is a class.
constexpr std::size_t kMaxClasses = 4096;

std::string text(const char* words) { return words != nullptr ? words : ""; }

struct BitmapFree {
  void operator()(bitstr_t* bits) const { bit_free(bits); }
};
using Bitmap = std::unique_ptr<bitstr_t, BitmapFree>;

std::set<std::uint32_t> node_owners() {
  std::set<std::uint32_t> owners;
  for (int i = 0; i < node_record_count; ++i)
    if (node_record_table_ptr[i] != nullptr && node_record_table_ptr[i]->owner != NO_VAL)
      owners.insert(node_record_table_ptr[i]->owner);
  return owners;
}

// --exclusive=user, or a partition with that setting: no node with jobs of other users.
bool exclusive_user(const SlurmQueueEntry& entry) {
  return release::wants_nodes_of_one_user(*entry.job->details) ||
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
  const bool full = ids_.size() > kMaxClasses;
  if (full) owners_.clear();
  const std::size_t known_owners = owners_.size();
  owners_.merge(node_owners());
  const bool stale = full || any_reservation != any_reservation_ || owners_.size() != known_owners;
  any_reservation_ = any_reservation;
  read_windows();
  if (stale) ids_.clear();
  sets_.assign(ids_.size(), {});
  return stale;
}

// The start of a reservation as in reservation.c, _get_rel_start_end().
void NodeClasses::read_windows() {
  now_ = time(nullptr);
  begins_.clear();
  if (!any_reservation_) return;
  ListWalk<slurmctld_resv_t> all(resv_list);
  while (const auto* one = all.next())
    begins_.push_back((one->flags & RESERVE_FLAG_TIME_FLOAT) != 0 ? one->start_time + now_
                                                                  : one->start_time_first);
  std::sort(begins_.begin(), begins_.end());
}

// The end of the job as in reservation.c, _get_job_duration().
NodeClasses::Window NodeClasses::window_of(const job_record_t& job,
                                           const part_record_t& part) const {
  if (begins_.empty()) return 0;
  constexpr time_t kYear = 365L * 24 * 60 * 60;
  const std::uint32_t limit = shortest_limit(job);
  const std::uint32_t minutes = limit != NO_VAL ? limit : part.max_time;
  time_t seconds = minutes == INFINITE ? kYear : time_t{minutes} * 60;
  const int slices = part.max_share & ~SHARED_FORCE;
  if (seconds != kYear && slices > 1 && (slurm_conf.preempt_mode & PREEMPT_MODE_GANG) != 0)
    seconds *= slices;
  const auto end = std::lower_bound(begins_.begin(), begins_.end(), now_ + seconds);
  return static_cast<Window>(end - begins_.begin());
}

NodeSetIndex NodeClasses::set_index(const bitstr_t* bitmap) {
  NodeSet set = index_->set_of(bitmap);
  const auto [at, added] =
      set_indices_.try_emplace(std::move(set), NodeSetIndex{node_sets_->size()});
  if (added) node_sets_->push_back(at->first);
  return at->second;
}

NodeClasses::NodeMinimum NodeClasses::minimum_of(const job_details_t& details) {
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

NodeClasses::Access NodeClasses::access_of(const SlurmQueueEntry& entry, bool own_nodes) const {
  const job_record_t& job = *entry.job;
  Access access;
  // A magnetic reservation is in the queue only for jobs that may use it.
  const bool asks_reservation = job.resv_ptr != nullptr || job.resv_list != nullptr;
  if (own_nodes || owners_.contains(job.user_id) || asks_reservation) access.user = job.user_id;
  if (asks_reservation) access.association = job.assoc_id;
  if (any_reservation_ && entry.may_borrow)
    access.leaves_reservation = std::uint32_t{job.warn_time} + 1;
  return access;
}

NodeClassIndex NodeClasses::class_of(const SlurmQueueEntry& entry) {
  const job_record_t& job = *entry.job;
  const job_details_t& details = *job.details;
  const bool own_nodes = exclusive_user(entry);
  Key key{entry.part,
          text(entry.use_prefer ? details.prefer : details.features),
          text(details.exc_nodes),
          text(details.req_nodes),
          entry.reservation != nullptr ? static_cast<const void*>(entry.reservation)
                                       : static_cast<const void*>(job.resv_ptr),
          access_of(entry, own_nodes),
          text(job.mcs_label),
          details.req_node_bitmap != nullptr ? details.min_nodes : 0,
          own_nodes,
          any_reservation_ ? details.whole_node : std::uint8_t{0},
          minimum_of(details)};
  const auto [at, added] = ids_.try_emplace(std::move(key), NodeClassIndex{ids_.size()});
  if (added) sets_.emplace_back();
  return at->second;
}

const NodeClasses::Sets& NodeClasses::sets_of(NodeClassIndex class_id,
                                              const SlurmQueueEntry& entry) {
  const auto [at, added] = sets_[class_id].try_emplace(window_of(*entry.job, *entry.part), Sets{});
  if (added) at->second = add(entry);
  return at->second;
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
  bool overlap = false;
  const int rc = release::test_reservations(copy, when, &open, overlap);
  if (open != nullptr) bit_and(nodes, open);
  FREE_NULL_BITMAP(open);
  return rc == SLURM_SUCCESS;
}

NodeClasses::Sets NodeClasses::add(const SlurmQueueEntry& entry) {
  // Works on a copy to keep the job unchanged: the filters read feature_list_use, which the
  // scheduler sets, and job_test_resv() writes its result to the job.
  job_record_t job = *entry.job;
  job_details_t details = *entry.job->details;
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
