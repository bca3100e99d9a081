// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugin/slurm/read/job_request.h"

#include <fmt/format.h>

#include <charconv>
#include <iterator>

#include "lib/base/text.h"
#include "lib/hints/facts.h"

namespace rubato {

namespace {

constexpr std::string_view kVersion = "1";

constexpr const char* kSbatchVariables[] = {
    "SLURM_NTASKS", "SLURM_NPROCS",        "SLURM_NTASKS_PER_NODE", "SLURM_CPUS_PER_TASK",
    "SLURM_GPUS",   "SLURM_GPUS_PER_NODE", "SLURM_GPUS_PER_TASK"};

std::string text(const char* words) { return words != nullptr ? words : ""; }

/// Names and members, in the order of the text.
template <typename Fields, typename Each>
void each_member(Fields& fields, Each each) {
  each("job", fields.per_job);
  each("node", fields.per_node);
  each("task", fields.per_task);
  each("gpu-memory", fields.memory_per_gpu);
  each("min-nodes", fields.min_nodes);
  each("max-nodes", fields.max_nodes);
  each("tasks", fields.tasks);
  each("min-cpus", fields.min_cpus);
  each("orig-min-cpus", fields.orig_min_cpus);
  each("max-cpus", fields.max_cpus);
  each("orig-max-cpus", fields.orig_max_cpus);
  each("node-cpus", fields.node_cpus);
  each("orig-node-cpus", fields.orig_node_cpus);
  each("task-cpus", fields.task_cpus);
  each("orig-task-cpus", fields.orig_task_cpus);
  each("tasks-per-node", fields.tasks_per_node);
  each("memory", fields.memory);
  each("orig-memory", fields.orig_memory);
  each("memory-said", fields.memory_said);
}

std::string shown(const std::string& value) { return value; }
template <typename Number>
std::string shown(const Number& value) {
  return std::to_string(value);
}

bool read(std::string_view text, std::string& to) {
  to = text;
  return true;
}

template <typename Number>
bool read_number(std::string_view text, Number& to) {
  const auto [end, rc] = std::from_chars(text.data(), text.data() + text.size(), to);
  return rc == std::errc() && end == text.data() + text.size();
}

bool read(std::string_view text, std::uint32_t& to) { return read_number(text, to); }
bool read(std::string_view text, std::uint64_t& to) { return read_number(text, to); }
bool read(std::string_view text, bool& to) {
  to = text == "1";
  return to || text == "0";
}

std::uint32_t count(int value) { return static_cast<std::uint32_t>(value); }

/// The value of --gpus if tres_per_job is `per_job`: "2" or "a100:2".
std::string gpus_option(std::string_view per_job) {
  for (std::string_view entry : split_at(per_job, ',')) {
    const std::size_t at = entry.find("gpu:");
    if (at != std::string_view::npos) return std::string(entry.substr(at + 4));
  }
  return "";
}

void set_gpus(const Request& planned, RequestFields& fields) {
  const bool by_task = planned.gpus_per_task > 0 && gpus_in(fields.per_job).count == 0;
  const int total = by_task || planned.gpus == 0 ? 0 : planned.gpus;
  // The type to request, for the case that the field that named it is dropped.
  std::string named;
  for (const std::string* one : {&fields.per_job, &fields.per_node, &fields.per_task})
    for (const std::string& word : gpus_in(*one).types) named = word;
  fields.per_job = with_gpus(fields.per_job, total, named);
  fields.per_node = with_gpus(fields.per_node, planned.gpus_per_node, named);
  if (planned.gpus_per_task == 0) fields.per_task = with_gpus(fields.per_task, 0);
  if (!planned.wants_gpus()) fields.memory_per_gpu = with_gpus(fields.memory_per_gpu, 0);
}

void set_memory(const Request& asked, const Request& planned, RequestFields& fields) {
  if (planned.memory_per_gpu != asked.memory_per_gpu) {
    fields.memory_per_gpu =
        with_gpus(fields.memory_per_gpu, static_cast<int>(planned.memory_per_gpu));
    fields.memory = fields.orig_memory = 0;
    fields.memory_said = false;
  } else if (planned.memory_per_node != asked.memory_per_node) {
    fields.memory = fields.orig_memory = static_cast<std::uint64_t>(planned.memory_per_node);
  }
}

// All but the texts, which need memory.
RequestFields numbers_of(const job_record_t& job) noexcept {
  const job_details_t& details = *job.details;
  RequestFields fields;
  fields.min_nodes = details.min_nodes;
  fields.max_nodes = details.max_nodes;
  fields.tasks = details.num_tasks;
  fields.min_cpus = details.min_cpus;
  fields.orig_min_cpus = details.orig_min_cpus;
  fields.max_cpus = details.max_cpus;
  fields.orig_max_cpus = details.orig_max_cpus;
  fields.node_cpus = details.pn_min_cpus;
  fields.orig_node_cpus = details.orig_pn_min_cpus;
  fields.task_cpus = details.cpus_per_task;
  fields.orig_task_cpus = details.orig_cpus_per_task;
  fields.tasks_per_node = details.ntasks_per_node;
  fields.memory = details.pn_min_memory;
  fields.orig_memory = details.orig_pn_min_memory;
  fields.memory_said = (job.bit_flags & JOB_MEM_SET) != 0;
  return fields;
}

auto numbers_in(const RequestFields& f) noexcept {
  return std::make_tuple(f.min_nodes, f.max_nodes, f.tasks, f.min_cpus, f.orig_min_cpus, f.max_cpus,
                         f.orig_max_cpus, f.node_cpus, f.orig_node_cpus, f.task_cpus,
                         f.orig_task_cpus, f.tasks_per_node, f.memory, f.orig_memory,
                         f.memory_said);
}

}  // namespace

RequestFields request_fields(const job_record_t& job) {
  RequestFields fields = numbers_of(job);
  fields.per_job = text(job.tres_per_job);
  fields.per_node = text(job.tres_per_node);
  fields.per_task = text(job.tres_per_task);
  fields.memory_per_gpu = text(job.mem_per_tres);
  return fields;
}

void set_numbers(job_record_t& job, const RequestFields& fields) noexcept {
  job_details_t& details = *job.details;
  details.min_nodes = fields.min_nodes;
  details.max_nodes = fields.max_nodes;
  details.num_tasks = fields.tasks;
  details.min_cpus = fields.min_cpus;
  details.orig_min_cpus = fields.orig_min_cpus;
  details.max_cpus = fields.max_cpus;
  details.orig_max_cpus = fields.orig_max_cpus;
  details.pn_min_cpus = static_cast<std::uint16_t>(fields.node_cpus);
  details.orig_pn_min_cpus = static_cast<std::uint16_t>(fields.orig_node_cpus);
  details.cpus_per_task = static_cast<std::uint16_t>(fields.task_cpus);
  details.orig_cpus_per_task = static_cast<std::uint16_t>(fields.orig_task_cpus);
  details.ntasks_per_node = static_cast<std::uint16_t>(fields.tasks_per_node);
  details.pn_min_memory = fields.memory;
  details.orig_pn_min_memory = fields.orig_memory;
  if (fields.memory_said)
    job.bit_flags |= JOB_MEM_SET;
  else
    job.bit_flags &= ~JOB_MEM_SET;
}

bool has_request(const job_record_t& job, const RequestFields& fields) noexcept {
  const auto same = [](const char* text, const std::string& wanted) {
    return wanted == (text != nullptr ? text : "");
  };
  return numbers_in(numbers_of(job)) == numbers_in(fields) &&
         same(job.tres_per_job, fields.per_job) && same(job.tres_per_node, fields.per_node) &&
         same(job.tres_per_task, fields.per_task) && same(job.mem_per_tres, fields.memory_per_gpu);
}

RequestFields fields_at(const RequestFields& fields, const Request& asked, const Request& planned) {
  RequestFields out = fields;
  set_gpus(planned, out);
  set_memory(asked, planned, out);
  if (planned.min_nodes != asked.min_nodes || planned.max_nodes != asked.max_nodes ||
      planned.fixed_nodes != asked.fixed_nodes) {
    out.min_nodes = count(planned.min_nodes);
    out.max_nodes = count(planned.max_nodes);
  }
  if (planned.tasks != asked.tasks) out.tasks = count(planned.tasks);
  if (planned.tasks_per_node != asked.tasks_per_node)
    out.tasks_per_node = count(planned.tasks_per_node);
  if (planned.cores != asked.cores) out.min_cpus = out.orig_min_cpus = count(planned.cores);
  if (planned.cores_per_node != asked.cores_per_node)
    out.node_cpus = out.orig_node_cpus = count(planned.cores_per_node);
  if (planned.cores_per_task != asked.cores_per_task)
    out.task_cpus = out.orig_task_cpus = count(planned.cores_per_task);
  for (std::uint32_t* most : {&out.max_cpus, &out.orig_max_cpus})
    if (*most != 0 && *most < out.min_cpus) *most = out.min_cpus;
  return out;
}

std::string to_text(const RequestFields& fields) {
  std::string out(kVersion);
  each_member(fields, [&](const char* name, const auto& value) {
    out += fmt::format(";{}={}", name, shown(value));
  });
  return out;
}

std::optional<RequestFields> request_fields_from(std::string_view text) {
  const std::vector<std::string_view> parts = split_at(text, ';');
  if (parts.front() != kVersion) return std::nullopt;
  RequestFields fields;
  std::size_t next = 1;
  bool good = true;
  each_member(fields, [&](const char* name, auto& value) {
    const std::string begin = std::string(name) + '=';
    good = good && next < parts.size() && parts[next].starts_with(begin) &&
           read(parts[next].substr(begin.size()), value);
    ++next;
  });
  if (!good || next != parts.size()) return std::nullopt;
  return fields;
}

std::vector<std::pair<std::string, std::string>> sbatch_variables(const RequestFields& fields,
                                                                  const RequestFields& changed) {
  std::vector<std::pair<std::string, std::string>> out;
  const auto number = [&](const char* name, std::uint32_t value) {
    out.emplace_back(name, std::to_string(value));
  };
  if (changed.tasks != fields.tasks) {
    number("SLURM_NTASKS", changed.tasks);
    number("SLURM_NPROCS", changed.tasks);
  }
  // srun rejects an empty number. The maximum number of tasks per node has no effect.
  if (changed.tasks_per_node != fields.tasks_per_node)
    number("SLURM_NTASKS_PER_NODE",
           changed.tasks_per_node > 0 ? changed.tasks_per_node : changed.tasks);
  if (changed.task_cpus != fields.task_cpus) number("SLURM_CPUS_PER_TASK", changed.task_cpus);
  if (changed.per_job != fields.per_job && gpus_in(fields.per_job).count > 0)
    out.emplace_back("SLURM_GPUS", gpus_option(changed.per_job));
  // --gres has no such variable; without it, a step gets all GPUs of the job.
  if (changed.per_node != fields.per_node) out.emplace_back("SLURM_GPUS_PER_NODE", "");
  if (changed.per_task != fields.per_task) out.emplace_back("SLURM_GPUS_PER_TASK", "");
  return out;
}

bool is_sbatch_variable(std::string_view name) {
  return std::find(std::begin(kSbatchVariables), std::end(kSbatchVariables), name) !=
         std::end(kSbatchVariables);
}

}  // namespace rubato
