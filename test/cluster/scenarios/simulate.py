# SPDX-License-Identifier: GPL-2.0-or-later
"""Simulated time on the real cluster."""
import json
import re

from cluster import MIXED_NODES, check, scenario, shape

shape("simulate", nodes=MIXED_NODES, rubato_conf="Mode=place\nManagedPartitions=all\nPublishInterval=0.2\n")
shape("simulate-dbd", dbd=True, rubato_conf="Mode=place\nManagedPartitions=all\nPublishInterval=0.2\n")


def only_some_nodes_count(c):
    """Negative control: only the snapshot's nodes of the first type are used."""
    env = c.client_env
    c.client_env = lambda user=None: {**env(user), "RUBATO_TESTING": "1",
                                      "RUBATO_TEST_OFF": "snapshot-shape"}
    c.defer(lambda: vars(c).pop("client_env"))


def gpus_of_sinfo(text):
    """{type: {GPUs of a node: nodes}} from `sinfo -N -o '%N %G'`, each node once."""
    found = {}
    for line in sorted(set(text.splitlines())):
        _, gres = line.split(None, 1)
        for gpu_type, count in re.findall(r"gpu:([^:,()]+):(\d+)", gres):
            nodes = found.setdefault(gpu_type, {})
            nodes[int(count)] = nodes.get(int(count), 0) + 1
    return found


def gpus_of_shape(text):
    """The same from a shape; types that only differ by a suffix count as one."""
    found = {}
    for gpu_type, nodes, gpus in re.findall(r"([^:,/]+):(\d+)x(\d+)", text):
        sizes = found.setdefault(re.sub(rf"-{gpus}$", "", gpu_type), {})
        sizes[int(gpus)] = sizes.get(int(gpus), 0) + int(nodes)
    return found


@scenario(cluster="simulate", needs=["rubato"], negative=only_some_nodes_count, timeout=120)
def a_workload_runs_on_the_shape_of_the_live_cluster(c):
    """simulate --cluster @ plays on the nodes that sinfo shows"""
    folder = c.path("out", c.fresh_name("simulate"))
    c.cmd(f"mkdir {folder}")
    here = f"cd {folder} && "
    c.cmd(here + "printf 'job,arrival_s,gpus,run_s\\nx,0,8,100\\ny,0,1,50\\n' > w.csv")
    wanted = gpus_of_sinfo(c.cmd("sinfo -h -N -o '%N %G'"))
    check(len(wanted) > 1, "several types of GPU", wanted)
    c.expect(lambda: c.ask(here + "rubato snapshot -o here.json && echo taken", check=False).strip(),
             "taken", "a snapshot of the cluster", 120)
    for cluster in ("@here.json", "@"):
        text = c.cmd(here + f"rubato simulate -w w.csv -c {cluster} -p backfill --report r.html")
        said = re.search(r"^Cluster of .*: (\S+)\.$", text, re.M)
        check(said is not None and gpus_of_shape(said[1]) == wanted,
              f"the shape of {cluster} is what sinfo shows: {wanted}", text)
    run = json.loads(c.ask(here + "rubato simulate -w w.csv -c @here.json -p backfill --json"))
    check(run["finished"] == run["jobs"] == 2, "both jobs ran in simulated time", run)
    check("</html>" in c.ask(here + "cat r.html"), "a whole page")


def gpus_are_not_recorded(c):
    """Negative control: the history lacks the allocations of jobs."""
    env = c.client_env
    c.client_env = lambda user=None: {**env(user), "HISTORY_TRES": "ReqNodes"}
    c.defer(lambda: vars(c).pop("client_env"))


COLUMNS = "JobID,Submit,Eligible,Start,End,AllocTRES,Timelimit,Account,JobName"


@scenario(cluster="simulate-dbd", needs=["rubato", "dbd"], negative=gpus_are_not_recorded, timeout=300)
def the_history_of_this_cluster_is_played(c):
    """simulate --from-sacct reads what sacct prints of arrays, requeued, cancelled and CPU jobs"""
    name = c.fresh_name("history")
    latch = c.latch()
    one = c.sbatch("--gpus=2 -t 5", "sleep 1.2", name=name)
    array = c.sbatch("--gpus=1 -t 5 -a 1-3", "sleep 1.2", name=name)
    cpu = c.sbatch("-n1 -t 5", "sleep 1.2", name=name)
    again = c.sbatch("--gpus=1 -t UNLIMITED --requeue", f"{latch.wait}; sleep 1.2", name=name)
    c.wait_state(again, "RUNNING", 120)
    # It requests every node, so it waits for the previous job; sacct does not know held jobs.
    never = c.sbatch("-N8 --exclusive --gpus-per-node=1 -t 5", "sleep 1", name=name)
    c.expect(lambda: int(c.ask(f"squeue -h -j {again} -O timeused:0").split(":")[-1]) >= 2, True,
             "two seconds of its first run", 120)
    c.cmd(f"scancel {never}")
    c.cmd(f"scontrol requeue {again}")
    latch.open()
    # The begin time of a requeued job lies two minutes ahead: it may start at once. Not before its first run
    # has ended for slurmctld: an update until then takes the start out of that run's record in slurmdbd.
    c.wait_state(again, "PENDING,RUNNING,COMPLETED", 120)
    c.cmd(f"scontrol update JobId={again} StartTime=now", check=False)
    for job in (one, cpu, again):
        c.wait_state(job, "COMPLETED", 240)
    history = c.path("out", name + ".txt")
    fields = COLUMNS.replace("AllocTRES", "${HISTORY_TRES:-AllocTRES}")

    def ended():
        """States of the rows of jobs that ended, as slurmdbd has them; writes the history too."""
        rows = c.ask(f"sacct -a -X -n --duplicates --parsable2 --name={name} -o State,End,JobID")
        # Read second, so that it contains all rows.
        c.ask(f"sacct -a --duplicates --parsable2 --name={name} -o \"{fields}\" > {history}")
        return sorted(row.split("|")[0].split()[0] for row in rows.splitlines()
                      if "|Unknown|" not in row)
    # One job, three tasks, one without GPUs, two runs of the last; and one that was cancelled.
    c.expect(ended, ["CANCELLED"] + ["COMPLETED"] * 6 + ["REQUEUED"], "what ended in slurmdbd", 120)
    c.cmd(f"cat {history}")
    text = c.cmd(f"rubato simulate --from-sacct {history} -c @ --json")
    runs = [json.loads(line) for line in text.splitlines() if line.startswith("{")]
    check([run["policy"] for run in runs] == ["(real)", "backfill", "rubato-place"], "three runs", text)
    check([(run["jobs"], run["finished"]) for run in runs] == [(6, 6)] * 3,
          f"six runs with GPUs: job {one}, three tasks of {array}, two runs of {again}", text)
    text = c.cmd(f"rubato simulate --from-sacct {history} -c @")
    check("Excluded: 1 job without GPUs, 1 that never started" in text, "what was left out", text)
    check("1 later run of requeued jobs" in text, "the second run", text)
    check(re.search(r"The replay of stock Slurm \(backfill\) differs by [+-][\d.]+ (%|s) from", text) is not None,
          "how far the replay is off", text)
