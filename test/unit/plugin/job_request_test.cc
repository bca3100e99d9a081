// SPDX-License-Identifier: GPL-2.0-or-later
// The fields of a job record at another size, and their text form.
#include <gtest/gtest.h>

#include "lib/core/resize_request.h"
#include "lib/hints/task_variables.h"
#include "plugin/slurm/read/job_request.h"
#include "plugin/slurm/read/kept_request.h"

namespace rubato {
namespace {

using Variables = std::vector<std::pair<std::string, std::string>>;

// --gpus=a100:4 -n4 -c2 --mem=4000
RequestFields four_tasks() {
  RequestFields fields;
  fields.per_job = "gres:gpu:a100:4";
  fields.min_nodes = 1;
  fields.tasks = 4;
  fields.min_cpus = fields.orig_min_cpus = 8;
  fields.max_cpus = fields.orig_max_cpus = NO_VAL;
  fields.node_cpus = fields.orig_node_cpus = 2;
  fields.task_cpus = fields.orig_task_cpus = 2;
  fields.memory = fields.orig_memory = 4000;
  fields.memory_said = true;
  return fields;
}

Job asks_four() {
  Job job;
  job.request.gpus = 4;
  job.request.gpu_type = "a100";
  job.request.tasks = 4;
  job.request.cores = 8;
  job.request.cores_per_node = job.request.cores_per_task = 2;
  job.request.memory_per_node = 4000;
  job.hints = ResolvedHints();
  job.hints->sizes = GpuSizes({{1, 16}});
  job.hints->device = Device::kAny;
  return job;
}

RequestFields at(const RequestFields& fields, const Job& job, int gpus) {
  const auto planned = at_size(job, gpus, "");
  EXPECT_TRUE(planned);
  return planned ? fields_at(fields, job.request, planned->request) : fields;
}

TEST(JobRequest, its_own_size_changes_nothing) {
  EXPECT_EQ(at(four_tasks(), asks_four(), 4), four_tasks());
}

TEST(JobRequest, tasks_and_cpus_scale_and_memory_goes_to_the_gpus) {
  RequestFields wanted = four_tasks();
  wanted.per_job = "gres:gpu:a100:2";
  wanted.tasks = 2;
  wanted.min_cpus = wanted.orig_min_cpus = 4;
  wanted.memory = wanted.orig_memory = 0;
  wanted.memory_said = false;
  wanted.memory_per_gpu = "gres:gpu:1000";
  const RequestFields half = at(four_tasks(), asks_four(), 2);
  EXPECT_EQ(half, wanted);
  EXPECT_EQ(sbatch_variables(four_tasks(), half),
            (Variables{{"SLURM_NTASKS", "2"}, {"SLURM_NPROCS", "2"}, {"SLURM_GPUS", "a100:2"}}));
}

TEST(JobRequest, gpus_a_node_become_gpus_in_total) {
  RequestFields fields;
  fields.per_node = "gres:gpu:v100:4,gres:craynetwork:1";
  fields.min_nodes = fields.tasks = 1;
  fields.min_cpus = fields.orig_min_cpus = fields.task_cpus = fields.node_cpus = 1;
  fields.orig_task_cpus = NO_VAL16;
  Job job;
  job.request.gpus_per_node = 4;
  job.request.gpu_type = "v100";
  job.request.tasks = 1;
  job.request.cores_per_node = 1;
  job.hints = ResolvedHints();
  job.hints->sizes = GpuSizes({{1, 16}});
  const RequestFields twice = at(fields, job, 8);
  EXPECT_EQ(twice.per_job, "gres:gpu:v100:8");
  EXPECT_EQ(twice.per_node, "gres:craynetwork:1");
  EXPECT_EQ(twice.tasks, 1U);
  EXPECT_EQ(twice.min_cpus, 1U);
  EXPECT_EQ(twice.orig_task_cpus, std::uint32_t{NO_VAL16}) << "still not said";
  EXPECT_EQ(sbatch_variables(fields, twice), (Variables{{"SLURM_GPUS_PER_NODE", ""}}));
}

TEST(JobRequest, without_gpus_nothing_of_them_is_left) {
  const RequestFields none = at(four_tasks(), asks_four(), 0);
  EXPECT_EQ(none.per_job, "");
  EXPECT_EQ(none.memory, 4000U);
  EXPECT_EQ(none.tasks, 4U);
  EXPECT_EQ(sbatch_variables(four_tasks(), none), (Variables{{"SLURM_GPUS", ""}}));
}

TEST(JobRequest, whole_nodes_change_their_number) {
  RequestFields fields;
  fields.per_node = "gres:gpu:4";
  fields.min_nodes = fields.max_nodes = fields.tasks = 2;
  fields.min_cpus = fields.orig_min_cpus = 2;
  fields.tasks_per_node = 1;
  Job job;
  job.request.gpus_per_node = 4;
  job.request.min_nodes = job.request.max_nodes = job.request.tasks = job.request.cores = 2;
  job.request.tasks_per_node = 1;
  job.request.fixed_nodes = true;
  job.hints = ResolvedHints();
  job.hints->sizes = GpuSizes({{4, 16}});
  const RequestFields twice = at(fields, job, 16);
  EXPECT_EQ(twice.per_node, "gres:gpu:4");
  EXPECT_EQ(twice.min_nodes, 4U);
  EXPECT_EQ(twice.max_nodes, 4U);
  EXPECT_EQ(twice.tasks, 4U);
  EXPECT_EQ(twice.min_cpus, 4U);
}

TEST(JobRequest, the_text_keeps_every_field) {
  RequestFields fields = four_tasks();
  fields.per_node = "gpu:2,gres:craynetwork:1";
  fields.per_task = "gres:gpu:1";
  fields.memory_per_gpu = "gres:gpu:100";
  fields.max_nodes = 7;
  fields.tasks_per_node = 3;
  fields.memory = 100 | MEM_PER_CPU;
  const auto back = request_fields_from(to_text(fields));
  ASSERT_TRUE(back);
  EXPECT_EQ(*back, fields);
}

TEST(JobRequest, a_text_that_is_not_whole_is_none) {
  const std::string text = to_text(four_tasks());
  EXPECT_FALSE(request_fields_from(""));
  EXPECT_FALSE(request_fields_from("2" + text.substr(1)));
  EXPECT_FALSE(request_fields_from(text.substr(0, text.rfind(';'))));
  EXPECT_FALSE(request_fields_from(text + ";more=1"));
  for (std::size_t i = 0; i < text.size(); ++i)
    if (text[i] == '=') {
      std::string broken = text;
      broken[i] = ':';
      EXPECT_FALSE(request_fields_from(broken)) << broken;
    }
}

TEST(JobRequest, it_is_found_in_the_environment_of_the_job) {
  std::string kept = std::string(kKeptRequest) + "=" + to_text(four_tasks());
  std::string other = std::string(kKeptRequest) + "ED=1";
  char* entries[] = {other.data(), nullptr, kept.data()};
  job_details_t details{};
  job_record_t job{};
  job.details = &details;
  EXPECT_FALSE(kept_request(job));
  details.env_sup = entries;
  details.env_cnt = 2;
  EXPECT_FALSE(kept_request(job));
  details.env_cnt = 3;
  ASSERT_TRUE(kept_request(job));
  EXPECT_EQ(*kept_request(job), four_tasks());
}

// Started with 2 GPUs a node on 2 nodes, submitted with 4 GPUs in all and 5000 MiB for each.
TEST(JobRequest, a_job_at_another_size_is_read_as_submitted) {
  RequestFields submitted = four_tasks();
  submitted.memory = submitted.orig_memory = 0;
  submitted.memory_said = false;
  submitted.memory_per_gpu = "gres:gpu:5000";
  job_details_t details{};
  job_record_t job{};
  job.details = &details;
  job.job_id = 7;
  details.min_nodes = details.max_nodes = details.num_tasks = 2;
  details.min_cpus = 2;
  std::string per_node = "gres:gpu:2";
  job.tres_per_node = per_node.data();
  job.bit_flags = JOB_MEM_SET;
  gres_job_state_t gpu{};
  gpu.gres_per_node = 2;
  gpu.cpus_per_gres = 3;
  const job_details_t details_before = details;
  SubmittedRecord read(job, &gpu, submitted);
  EXPECT_EQ(request_fields(read.job), submitted);
  EXPECT_EQ(read.job.job_id, 7U);
  EXPECT_EQ(read.gpu.gres_per_job, 4U);
  EXPECT_EQ(read.gpu.gres_per_node, 0U);
  EXPECT_EQ(read.gpu.mem_per_gres, 5000U);
  EXPECT_EQ(read.gpu.cpus_per_gres, 3) << "a start at another size leaves it";
  EXPECT_EQ(job.details->num_tasks, details_before.num_tasks) << "the record stays";
  EXPECT_EQ(gpu.gres_per_node, 2U);
  const SubmittedRecord on_cpus(job, nullptr, submitted);
  EXPECT_EQ(on_cpus.gpu.gres_per_job, 4U) << "a job that runs on CPUs now";
}

}  // namespace
}  // namespace rubato
