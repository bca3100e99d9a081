// SPDX-License-Identifier: GPL-2.0-or-later
// From src/squeue/opts.c of Slurm 22.05: parse_format and parse_long_format.
#include "tools/shared/squeue_fields.h"

#include <algorithm>

#include "lib/base/nearest.h"

namespace rubato::tools {

const std::vector<SqueueField>& squeue_fields() {
  static const std::vector<SqueueField> table{
      {'a', "account"},
      {0, "accruetime"},
      {0, "admin_comment"},
      {0, "allocnodes"},
      {0, "allocsid"},
      {'F', "arrayjobid"},
      {'K', "arraytaskid"},
      {0, "associd"},
      {0, "batchflag"},
      {'B', "batchhost"},
      {0, "boardspernode"},
      {0, "burstbuffer"},
      {0, "burstbufferstate"},
      {0, "cluster"},
      {0, "clusterfeature"},
      {'o', "command"},
      {'k', "comment"},
      {0, "container"},
      {0, "containerid"},
      {'O', "contiguous"},
      {'I', "cores"},
      {'X', "corespec"},
      {0, "cpus-per-task"},
      {0, "cpus-per-tres"},
      {0, "cpuspertask"},
      {0, "deadline"},
      {0, "delayboot"},
      {'E', "dependency"},
      {0, "derivedec"},
      {0, "eligibletime"},
      {'e', "endtime"},
      {'x', "excnodes"},
      {0, "exit_code"},
      {'f', "feature"},
      {0, "gres"},
      {'G', "groupid"},
      {'g', "groupname"},
      {0, "hetjobid"},
      {0, "hetjobidset"},
      {0, "hetjoboffset"},
      {'i', "jobarrayid"},
      {'A', "jobid"},
      {0, "lastschedeval"},
      {'W', "licenses"},
      {0, "licensesalloc"},
      {0, "maxcpus"},
      {0, "maxnodes"},
      {0, "mcslabel"},
      {0, "mem-per-tres"},
      {'c', "mincpus"},
      {'m', "minmemory"},
      {0, "mintime"},
      {'d', "mintmpdisk"},
      {'j', "name"},
      {0, "network"},
      {'y', "nice"},
      {'N', "nodelist"},
      {0, "nodes"},
      {0, "ntpercore"},
      {0, "ntpernode"},
      {0, "ntpersocket"},
      {0, "ntperboard"},
      {'C', "numcpus"},
      {'D', "numnodes"},
      {0, "numtasks"},
      {0, "origin"},
      {0, "originraw"},
      {'h', "oversubscribe"},
      {0, "packjobid"},
      {0, "packjobidset"},
      {0, "packjoboffset"},
      {'P', "partition"},
      {0, "pendingtime"},
      {0, "preempttime"},
      {0, "prefer"},
      {'p', "priority"},
      {'Q', "prioritylong"},
      {0, "profile"},
      {'q', "qos"},
      {'r', "reason"},
      {'R', "reasonlist"},
      {0, "reboot"},
      {'n', "reqnodes"},
      {0, "reqswitch"},
      {0, "requeue"},
      {'v', "reservation"},
      {0, "resizetime"},
      {0, "restartcnt"},
      {0, "resvport"},
      {'Y', "schednodes"},
      {'z', "sct"},
      {0, "segmentsize"},
      {'s', "selectjobinfo"},
      {0, "shared"},
      {0, "siblingsactive"},
      {0, "siblingsactiveraw"},
      {0, "siblingsviable"},
      {0, "siblingsviableraw"},
      {'H', "sockets"},
      {0, "sperboard"},
      {'S', "starttime"},
      {'T', "state"},
      {'t', "statecompact"},
      {0, "stderr"},
      {0, "stdin"},
      {0, "stdout"},
      {'V', "submittime"},
      {0, "system_comment"},
      {'J', "threads"},
      {'L', "timeleft"},
      {'l', "timelimit"},
      {'M', "timeused"},
      {0, "tres"},
      {0, "tres-alloc"},
      {0, "tres-bind"},
      {0, "tres-freq"},
      {0, "tres-per-job"},
      {'b', "tres-per-node"},
      {0, "tres-per-socket"},
      {0, "tres-per-task"},
      {'U', "userid"},
      {'u', "username"},
      {0, "wait4switch"},
      {'w', "wckey"},
      {'Z', "workdir"},
  };
  return table;
}

const SqueueField* field_of_letter(char letter) {
  const auto& table = squeue_fields();
  const auto it = std::find_if(table.begin(), table.end(), [letter](const SqueueField& field) {
    return letter != 0 && field.letter == letter;
  });
  return it == table.end() ? nullptr : &*it;
}

const SqueueField* field_of_name(std::string_view name) {
  std::string wanted = lower(name);
  if (wanted.starts_with("numtask")) wanted = "numtasks";
  const auto& table = squeue_fields();
  const auto it = std::find_if(table.begin(), table.end(), [&wanted](const SqueueField& field) {
    return field.name == wanted;
  });
  return it == table.end() ? nullptr : &*it;
}

}  // namespace rubato::tools
