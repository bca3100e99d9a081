// SPDX-License-Identifier: GPL-2.0-or-later
// The request of a job at another size.
#include <gtest/gtest.h>

#include "lib/core/resize_request.h"

namespace rubato {
namespace {

ResolvedHints hints_for(std::vector<GpuSizes::Range> sizes, int own, int unit = 1) {
  ResolvedHints hints;
  hints.sizes = GpuSizes(std::move(sizes));
  hints.request_gpus = own;
  hints.unit = unit;
  return hints;
}

// --gpus=4 with sizes 1 to 16.
Job of_four() {
  Job job;
  job.request.gpus = 4;
  job.request.tasks = 1;
  job.request.cores_per_node = 1;
  job.hints = hints_for({{1, 16}}, 4);
  return job;
}

TEST(AtSize, keeps_the_request_at_its_own_size) {
  Job job = of_four();
  job.request.memory_per_node = 1000;
  job.request.min_nodes = 2;
  const auto same = at_size(job, 4, "");
  ASSERT_TRUE(same);
  EXPECT_EQ(*same, job);
}

TEST(AtSize, fills_in_a_type_where_none_is_named) {
  const auto typed = at_size(of_four(), 4, "v100");
  ASSERT_TRUE(typed);
  EXPECT_EQ(typed->request.gpu_type, "v100");
  Job bound = of_four();
  bound.request.gpu_type = "a100";
  EXPECT_TRUE(at_size(bound, 2, "a100"));
  const auto other = at_size(bound, 2, "v100");
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().text, "type v100: the request already names type a100");
}

TEST(AtSize, a_single_task_stays_one_and_its_cpus_scale) {
  Job job = of_four();
  job.request.cores = job.request.cores_per_task = job.request.cores_per_node = 8;
  const auto half = at_size(job, 2, "");
  ASSERT_TRUE(half);
  EXPECT_EQ(half->request.gpus, 2);
  EXPECT_EQ(half->request.tasks, 1);
  EXPECT_EQ(half->request.cores, 4);
  EXPECT_EQ(half->request.cores_per_task, 4);
  EXPECT_EQ(half->request.cores_per_node, 4);
  const auto twice = at_size(job, 8, "");
  ASSERT_TRUE(twice);
  EXPECT_EQ(twice->request.cores, 16);
  EXPECT_EQ(twice->request.cores_per_task, 16);
  EXPECT_EQ(twice->request.cores_per_node, 16);
  const auto three = at_size(job, 3, "");
  ASSERT_TRUE(three);
  EXPECT_EQ(three->request.cores, 6);
}

TEST(AtSize, a_job_that_names_no_cpus_stays_at_one) {
  const auto twice = at_size(of_four(), 8, "");
  ASSERT_TRUE(twice);
  EXPECT_EQ(twice->request.cores, 1);
  EXPECT_EQ(twice->request.cores_per_task, 1);
}

TEST(AtSize, tasks_scale_and_keep_their_cpus) {
  Job job = of_four();
  job.request.tasks = 4;
  job.request.cores = 8;
  job.request.cores_per_task = job.request.cores_per_node = 2;
  const auto twice = at_size(job, 8, "");
  ASSERT_TRUE(twice);
  EXPECT_EQ(twice->request.tasks, 8);
  EXPECT_EQ(twice->request.cores, 16);
  EXPECT_EQ(twice->request.cores_per_task, 2);
  EXPECT_EQ(twice->request.cores_per_node, 2);
}

TEST(AtSize, tasks_that_would_not_stay_whole_are_refused) {
  Job job = of_four();
  job.request.tasks = 2;
  const auto three = at_size(job, 3, "");
  ASSERT_FALSE(three);
  EXPECT_EQ(three.error().text, "3 GPUs: 2 tasks on 4 GPUs cannot be scaled to a whole number");
}

TEST(AtSize, memory_of_a_node_becomes_memory_of_a_gpu) {
  Job job = of_four();
  job.request.memory_per_node = 4002;
  const auto half = at_size(job, 2, "");
  ASSERT_TRUE(half);
  EXPECT_EQ(half->request.memory_per_node, 0);
  EXPECT_EQ(half->request.memory_per_gpu, 1001);
  job.request.min_nodes = job.request.max_nodes = 2;
  job.request.fixed_nodes = true;
  const auto spread = at_size(job, 8, "");
  ASSERT_TRUE(spread);
  EXPECT_EQ(spread->request.memory_per_gpu, 2001) << "8004 MiB on two nodes";
}

TEST(AtSize, memory_that_is_not_named_stays_that_of_the_nodes) {
  Job job = of_four();
  job.request.memory_per_node = 64000;
  job.request.whole_memory = true;
  const auto half = at_size(job, 2, "");
  ASSERT_TRUE(half);
  EXPECT_EQ(half->request.memory_per_node, 64000);
  EXPECT_EQ(half->request.memory_per_gpu, 0);
}

TEST(AtSize, memory_of_a_gpu_and_of_a_cpu_stay) {
  Job job = of_four();
  job.request.memory_per_gpu = 100;
  job.request.memory_per_core = 0;
  EXPECT_EQ(at_size(job, 8, "")->request.memory_per_gpu, 100);
  job.request.memory_per_gpu = 0;
  job.request.memory_per_core = 7;
  EXPECT_EQ(at_size(job, 8, "")->request.memory_per_core, 7);
}

TEST(AtSize, nodes_are_free) {
  Job job = of_four();
  job.request.min_nodes = job.request.max_nodes = 2;
  job.request.fixed_nodes = true;
  const auto half = at_size(job, 2, "");
  ASSERT_TRUE(half);
  EXPECT_EQ(half->request.min_nodes, 1);
  EXPECT_EQ(half->request.max_nodes, 0);
  EXPECT_FALSE(half->request.fixed_nodes);
}

TEST(AtSize, one_node_stays_one) {
  Job job = of_four();
  job.request.max_nodes = 1;
  job.request.fixed_nodes = true;
  job.request.memory_per_node = 4000;
  const auto twice = at_size(job, 8, "");
  ASSERT_TRUE(twice);
  EXPECT_EQ(twice->request.max_nodes, 1);
  EXPECT_EQ(twice->request.memory_per_node, 8000);
  EXPECT_EQ(twice->request.memory_per_gpu, 0);
}

TEST(AtSize, gpus_of_an_open_number_of_nodes_become_gpus_in_total) {
  Job job;
  job.request.gpus_per_node = 4;
  job.request.tasks = 4;
  job.request.tasks_per_node = 4;
  job.request.cores = job.request.cores_per_node = 8;
  job.request.cores_per_task = 2;
  job.hints = hints_for({{1, 16}}, 4);
  const auto twice = at_size(job, 8, "");
  ASSERT_TRUE(twice);
  EXPECT_EQ(twice->request.gpus, 8);
  EXPECT_EQ(twice->request.gpus_per_node, 0);
  EXPECT_EQ(twice->request.tasks, 8);
  EXPECT_EQ(twice->request.tasks_per_node, 0);
  EXPECT_EQ(twice->request.cores, 16);
  EXPECT_EQ(twice->request.cores_per_node, 2);
}

TEST(AtSize, whole_nodes_are_the_unit_where_both_are_fixed) {
  Job job;
  job.request.gpus_per_node = 4;
  job.request.min_nodes = job.request.max_nodes = 2;
  job.request.fixed_nodes = true;
  job.request.tasks = 2;
  job.request.tasks_per_node = 1;
  job.request.cores = 16;
  job.request.cores_per_node = job.request.cores_per_task = 8;
  job.request.memory_per_node = 5000;
  job.hints = hints_for({{1, 16}}, 8);
  const auto half = at_size(job, 4, "");
  ASSERT_TRUE(half);
  EXPECT_EQ(half->request.min_nodes, 1);
  EXPECT_EQ(half->request.max_nodes, 1);
  EXPECT_EQ(half->request.gpus_per_node, 4);
  EXPECT_EQ(half->request.tasks, 1);
  EXPECT_EQ(half->request.cores, 8);
  EXPECT_EQ(half->request.cores_per_node, 8);
  EXPECT_EQ(half->request.memory_per_node, 5000);
  const auto two = at_size(job, 2, "");
  ASSERT_FALSE(two);
  EXPECT_EQ(two.error().text, "2 GPUs: not a multiple of 4, the GPUs per node");
}

TEST(AtSize, a_task_a_node_keeps_its_nodes_whole_or_stays_on_one) {
  Job job;
  job.request.gpus_per_node = 4;
  job.request.tasks = job.request.tasks_per_node = 1;
  job.request.cores = job.request.cores_per_node = job.request.cores_per_task = 8;
  job.request.memory_per_node = 4000;
  job.hints = hints_for({{1, 16}}, 4);
  const auto twice = at_size(job, 8, "");
  ASSERT_TRUE(twice);
  EXPECT_EQ(twice->request.min_nodes, 2);
  EXPECT_EQ(twice->request.tasks, 2);
  EXPECT_EQ(twice->request.cores, 16);
  EXPECT_EQ(twice->request.gpus_per_node, 4);
  const auto half = at_size(job, 2, "");
  ASSERT_TRUE(half);
  EXPECT_EQ(half->request.max_nodes, 1);
  EXPECT_EQ(half->request.gpus_per_node, 2);
  EXPECT_EQ(half->request.tasks, 1);
  EXPECT_EQ(half->request.cores, 4);
  EXPECT_EQ(half->request.memory_per_node, 2000);
  EXPECT_FALSE(at_size(job, 6, "")) << "a node and a half";
}

TEST(AtSize, gpus_of_a_task_stay_and_tasks_follow) {
  Job job;
  job.request.gpus = job.request.gpu_quantum = job.request.gpus_per_task = 2;
  job.request.tasks = 1;
  job.hints = hints_for({{2, 8}}, 2, 2);
  const auto four = at_size(job, 8, "");
  ASSERT_TRUE(four);
  EXPECT_EQ(four->request.tasks, 4);
  EXPECT_EQ(four->request.gpus_per_task, 2);
  EXPECT_EQ(four->request.gpu_quantum, 2);
  EXPECT_EQ(at_size(job, 5, "").error().text,
            "5 GPUs: not a multiple of 2, as its request requires");
}

TEST(AtSize, without_gpus_the_rest_stays) {
  Job job = of_four();
  job.hints->device = Device::kAny;
  job.request.gpu_type = "a100";
  job.request.cores = job.request.cores_per_task = 6;
  job.request.memory_per_node = 600;
  const auto none = at_size(job, 0, "");
  ASSERT_TRUE(none);
  EXPECT_FALSE(none->request.wants_gpus());
  EXPECT_EQ(none->request.gpu_type, "");
  EXPECT_EQ(none->request.cores, 6);
  EXPECT_EQ(none->request.memory_per_node, 600);
  job.request.cores_per_gpu = 3;
  EXPECT_EQ(at_size(job, 0, "").error().text, "0 GPUs: its CPUs or memory are requested per GPU");
}

TEST(AtSize, only_what_the_job_offers_is_accepted) {
  Job job = of_four();
  EXPECT_EQ(at_size(job, 0, "").error().text, "0 GPUs: the hint device=any is missing");
  EXPECT_EQ(at_size(job, 17, "").error().text, "17 GPUs: not one of its sizes, 1-16");
  job.request.whole_nodes = true;
  EXPECT_EQ(at_size(job, 2, "").error().text, "2 GPUs: an exclusive job gets whole nodes");
  job = of_four();
  job.batch = false;
  EXPECT_EQ(at_size(job, 2, "").error().text, "2 GPUs: an interactive job starts as requested");
  job = of_four();
  job.hints.reset();
  EXPECT_EQ(at_size(job, 2, "").error().text,
            "2 GPUs: the job has no hints and starts as requested");
  EXPECT_TRUE(at_size(job, 4, ""));
}

}  // namespace
}  // namespace rubato
