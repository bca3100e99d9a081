// SPDX-License-Identifier: GPL-2.0-or-later
// Submits batch jobs from one process, and prints the milliseconds of each request.
//
//   submit_many < JOBS
//
// A line of JOBS is "key=value ...": gpus (TRES of the job), node_gpus (TRES of each node), nodes,
// tasks, cpus (of a task), minutes, name, partition, qos, on (required nodes), not (excluded
// nodes), after (dependency), array, sleep (seconds). Values hold no blanks.
#include <slurm/slurm.h>
#include <slurm/slurm_errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static char* g_environment[] = {"PATH=/usr/bin:/bin", NULL};

static void set(job_desc_msg_t* job, const char* key, char* value, char* script, size_t room) {
  const uint32_t number = (uint32_t)strtoul(value, NULL, 10);
  if (strcmp(key, "gpus") == 0) job->tres_per_job = value;
  if (strcmp(key, "node_gpus") == 0) job->tres_per_node = value;
  if (strcmp(key, "nodes") == 0) job->min_nodes = job->max_nodes = number;
  if (strcmp(key, "tasks") == 0) job->num_tasks = job->min_cpus = number;
  if (strcmp(key, "cpus") == 0) job->cpus_per_task = (uint16_t)number;
  if (strcmp(key, "minutes") == 0) job->time_limit = number;
  if (strcmp(key, "name") == 0) job->name = value;
  if (strcmp(key, "partition") == 0) job->partition = value;
  if (strcmp(key, "qos") == 0) job->qos = value;
  if (strcmp(key, "on") == 0) job->req_nodes = value;
  if (strcmp(key, "not") == 0) job->exc_nodes = value;
  if (strcmp(key, "after") == 0) job->dependency = value;
  if (strcmp(key, "array") == 0) job->array_inx = value;
  if (strcmp(key, "sleep") == 0) snprintf(script, room, "#!/bin/sh\nsleep %u\n", number);
}

static int submit(char* line) {
  char script[64] = "#!/bin/sh\nsleep 60\n";
  job_desc_msg_t job;
  submit_response_msg_t* answer = NULL;
  struct timespec before, after;
  char* rest = NULL;
  slurm_init_job_desc_msg(&job);
  for (char* word = strtok_r(line, " \n", &rest); word; word = strtok_r(NULL, " \n", &rest)) {
    char* value = strchr(word, '=');
    if (value == NULL) continue;
    *value++ = '\0';
    set(&job, word, value, script, sizeof script);
  }
  if (job.num_tasks == NO_VAL) job.num_tasks = job.min_cpus = 1;
  if (job.cpus_per_task != NO_VAL16) job.min_cpus = job.num_tasks * job.cpus_per_task;
  job.script = script;
  job.environment = g_environment;
  job.env_size = 1;
  job.work_dir = "/tmp";
  job.std_out = job.std_err = "/dev/null";
  job.std_in = "/dev/null";
  job.user_id = geteuid();
  job.group_id = getegid();
  clock_gettime(CLOCK_MONOTONIC, &before);
  if (slurm_submit_batch_job(&job, &answer) != SLURM_SUCCESS) {
    fprintf(stderr, "job %s: %s\n", job.name ? job.name : "", slurm_strerror(slurm_get_errno()));
    return 1;
  }
  clock_gettime(CLOCK_MONOTONIC, &after);
  printf("%u %.3f\n", answer->job_id,
         1e3 * (double)(after.tv_sec - before.tv_sec) +
             1e-6 * (double)(after.tv_nsec - before.tv_nsec));
  slurm_free_submit_response_response_msg(answer);
  return 0;
}

int main(void) {
  char line[1024];
  int failed = 0;
  slurm_init(NULL);
  while (fgets(line, sizeof line, stdin) != NULL) failed |= submit(line);
  return failed;
}
