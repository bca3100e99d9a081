// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugin/slurm/write/job_description.h"

namespace rubato {

JobDescription new_job_description() {
  JobDescription request(static_cast<job_desc_msg_t*>(xmalloc(sizeof(job_desc_msg_t))));
  slurm_init_job_desc_msg(request.get());
  return request;
}

int update_as_slurm_user(job_desc_msg_t& update) {
  slurm_msg_t message;
  slurm_msg_t_init(&message);
  message.data = &update;
  return update_job(&message, slurm_conf.slurm_user_id, false);
}

}  // namespace rubato
