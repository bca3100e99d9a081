# SPDX-License-Identifier: GPL-2.0-or-later
"""Pending jobs that start at another size than requested, and get their request back."""
import re

from cluster import check, scenario, shape

from .limits import make_qos
from .steps import conf, is_saved, published

shape("jobs")

LONG = 40  # seconds until a condition must hold, on a slow machine too

# The job's own view: its environment, and a step without options.
SEES = """env | grep -E '^(RUBATO_(GPUS|GPU_TYPE)|SLURM_(NTASKS|GPUS|NPROCS))=' | sort
srun sh -c 'echo step $SLURM_PROCID of $SLURM_NTASKS on ${CUDA_VISIBLE_DEVICES:-no GPU}' | sort
echo done ${SLURM_RESTART_COUNT:-0}
sleep 600"""

# Without NumNodes, which for a pending job is an estimate of Slurm's last test.
REQUEST = ("NumCPUs", "NumTasks", "TRES", "TresPerJob", "TresPerNode", "MinMemoryCPU",
           "MinMemoryNode", "MinCPUsNode", "CPUs/Task", "MemPerTres")


def request(c, job):
    """The request of a job as Slurm shows it."""
    seen = c.job(job)
    return {name: seen.get(name) for name in REQUEST}


def total(c, job):
    """Number of GPUs that a job holds."""
    return sum(sum(types.values()) for types in c.gpus(job).values())


def devices(c, job):
    """CUDA_VISIBLE_DEVICES of a task on each node of a job, from the indices Slurm allocated."""
    shown = c.ask(f"scontrol show job -d {job}")
    seen = set()
    for ranges in re.findall(r"GRES=gpu:[^(]*\(IDX:([\d,-]+)\)", shown):
        ends = (part.partition("-") for part in ranges.split(","))
        seen.add(",".join(str(i) for first, _, last in ends
                          for i in range(int(first), int(last or first) + 1)))
    return seen or {"no GPU"}


def billed(c, job):
    """What the running job is billed: with no weights set, its CPUs."""
    return int(re.search(r"billing=(\d+)", c.job(job)["TRES"])[1])


def runs_with(c, job, gpus, tasks=None):
    """The job runs with so many GPUs: for Slurm, in its environment, in a step.

    tasks: as many as GPUs without it; "a node" for a job that does not say
    """
    c.wait_state(job, "RUNNING", LONG)
    tasks = int(c.job(job)["NumNodes"]) if tasks == "a node" else tasks or gpus
    c.cmd(f"scontrol show job -d {job} | grep -E 'JobState|NumNodes|TRES|GRES|TresPer'")
    check(total(c, job) == gpus, f"{gpus} GPUs", c.gpus(job))
    check(c.job(job).get("NumTasks") == str(tasks), f"{tasks} tasks", c.job(job).get("NumTasks"))
    # A run may begin to print slightly after Slurm shows it.
    runs = int(c.job(job)["Restarts"])
    end = f"done {runs}\n"
    c.wait(lambda: end in c.output(job), LONG, f"the job to print {end.strip()}")
    lines = c.output(job).rpartition(f"done {runs - 1}\n")[2].splitlines()
    c.say("\n".join(lines))
    check(f"RUBATO_GPUS={gpus}" in lines, f"RUBATO_GPUS={gpus}", lines)
    if tasks > 1:
        check(f"SLURM_NTASKS={tasks}" in lines, f"SLURM_NTASKS={tasks}", lines)
    found = [line for line in lines if line.startswith("step ")]
    check(len(found) == tasks, f"{tasks} tasks in a step", found)
    allocated = devices(c, job)
    check({line.rpartition(" on ")[2] for line in found} == allocated,
          f"the tasks to see {allocated}", found)
    return lines


def asks_again(c, job, before):
    """A requeued job shows its submitted request."""
    c.wait_state(job, "PENDING", LONG)
    c.wait(lambda: request(c, job) == before, LONG, f"job {job} to ask for {before}")
    c.cmd(f"scontrol show job -d {job} | grep -E 'JobState|NumNodes|TRES|TresPer'")


@scenario(cluster="jobs", needs=["rubato"], negative="rewrite", timeout=120)
def four_gpus_start_as_two_then_as_eight(c):
    """A job for 4 GPUs starts with 2, asks for 4 again when it is requeued, and starts with 8

    What squeue, scontrol, the job's environment and its steps show is the size it runs at.
    """
    c.write_rubato_conf(conf("TestInject=start-size:2"))
    held = c.sbatch("-H --gpus=4 -n4 -t 5 --comment='rubato: gpus=2,4,8'", SEES)
    before = request(c, held)
    c.cmd(f"scontrol release {held}")
    lines = runs_with(c, held, 2)
    check("SLURM_GPUS=2" in lines, "SLURM_GPUS=2", lines)
    shown = c.cmd(f"squeue -h -j {held} -O NumCPUs:8,NumTasks:8,tres-per-job:16")
    check(shown.replace("gres/", "gres:").split() == ["2", "2", "gres:gpu:2"], "2 CPUs, 2 tasks, 2 GPUs in squeue", shown)
    check(billed(c, held) == 2, "a billing of 2", c.job(held)["TRES"])
    c.write_rubato_conf(conf("TestInject=start-size:8"))
    c.cmd(f"scontrol requeue {held}")
    asks_again(c, held, before)
    lines = runs_with(c, held, 8)
    check("SLURM_GPUS=8" in lines, "SLURM_GPUS=8", lines)
    check(billed(c, held) == 8, "a billing that follows the size", c.job(held)["TRES"])


@scenario(cluster="jobs", needs=["rubato"], negative="rewrite", timeout=120)
def forms_of_a_request_scale(c):
    """GPUs a node, a task, in total; tasks a node; CPUs and memory of each: all scale by the GPU

    Each row: options, size, then what Slurm shows at that size.
    """
    rows = (
        ("--gres=gpu:4", 8, "a node", {"TresPerJob": "gres:gpu:8"}),
        ("--gpus-per-node=4 --ntasks-per-node=4 -c2", 2, 2,
         {"TresPerJob": "gres:gpu:2", "NumTasks": "2", "NumCPUs": "4"}),
        ("--gres=gpu:4 --ntasks-per-node=1 -c8", 8, 2,
         {"TresPerNode": "gres:gpu:4", "NumNodes": "2", "NumTasks": "2", "NumCPUs": "16"}),
        ("--gres=gpu:4 --ntasks-per-node=1 -c8", 2, 1,
         {"TresPerNode": "gres:gpu:2", "NumNodes": "1", "NumCPUs": "4"}),
        ("--gpus-per-task=1 -n4 -c2", 2, 2, {"NumTasks": "2", "NumCPUs": "4"}),
        ("--gpus=a100:4 -n1 -c8 --mem=4000", 2, 1,
         {"TresPerJob": "gres:gpu:a100:2", "MemPerTres": "gres:gpu:1000", "NumCPUs": "4"}),
        ("--gpus=4 -n4 --mem-per-gpu=500 --cpus-per-gpu=2", 2, 2,
         {"MemPerTres": "gres:gpu:500", "NumCPUs": "4"}),
        ("-N2 --gpus=4 -n4", 2, 2, {"NumNodes": "1", "NumTasks": "2"}),
        ("-N2 --gpus-per-node=4 --ntasks-per-node=1", 4, 1,
         {"NumNodes": "1", "TresPerNode": "gres:gpu:4"}),
    )
    for options, gpus, tasks, wanted in rows:
        c.write_rubato_conf(conf(f"TestInject=start-size:{gpus}"))
        sizes = "4,8" if "-N2 --gpus-per-node" in options else "2,4,8"
        job = c.sbatch(f"-H {options} -t 5 --comment='rubato: gpus={sizes}'", SEES)
        before = request(c, job)
        c.cmd(f"scontrol release {job}")
        if "--gpus-per-task" in options:
            c.wait_state(job, "RUNNING", LONG)
            check(total(c, job) == gpus, f"{gpus} GPUs", c.gpus(job))
        else:
            runs_with(c, job, gpus, tasks)
        seen = {**request(c, job), "NumNodes": c.job(job).get("NumNodes")}
        check(wanted.items() <= seen.items(), f"{wanted}", seen)
        c.cmd(f"scontrol requeue {job}")
        asks_again(c, job, before)
        c.cmd(f"scancel {job}")


@scenario(cluster="authority", needs=["rubato"], negative="type", timeout=120)
def untyped_job_takes_a_type_and_is_free_again(c):
    """An untyped job takes the v100 of a node with two types, then, requeued, its h100

    The request stays untyped throughout; only the hint says the types.
    """
    job = c.sbatch("-w n8 --gpus=1 -t 5 --comment='rubato: gpu-types=v100'", "sleep 600")
    before = request(c, job)
    for kind in ("v100", "h100", "v100"):
        c.wait_state(job, "RUNNING", LONG)
        c.cmd(f"scontrol show job -d {job} | grep -E 'TresPer|GRES'")
        check(c.gpus(job) == {"n8": {kind: 1}}, f"one {kind} of n8", c.gpus(job))
        check(c.job(job).get("TresPerJob") == "gres:gpu:1", "an untyped request", c.job(job))
        following = {"v100": "h100", "h100": "v100"}[kind]
        c.cmd(f"scontrol update JobId={job} Comment='rubato: gpu-types={following}'")
        c.cmd(f"scontrol requeue {job}")
        asks_again(c, job, before)


@scenario(cluster="jobs", needs=["rubato"], negative="rewrite", timeout=120)
def gpu_job_runs_on_cpus_and_gets_gpus_back(c):
    """A job with device=any starts without GPUs, and with its own 4 when it is requeued"""
    c.write_rubato_conf(conf("TestInject=start-cpu"))
    job = c.sbatch("-H --gpus=4 -n4 --mem=800 -t 5 "
                   "--comment='rubato: gpus=4; device=any'", SEES)
    before = request(c, job)
    c.cmd(f"scontrol release {job}")
    runs_with(c, job, 0, 4)
    check(c.job(job).get("TresPerJob") is None, "no GPUs in the request", request(c, job))
    c.write_rubato_conf(conf())
    c.cmd(f"scontrol requeue {job}")
    asks_again(c, job, before)
    runs_with(c, job, 4)


@scenario(cluster="jobs", needs=["rubato"], negative="put-back", timeout=120)
def failed_start_leaves_no_trace(c):
    """A start that fails after the request was rewritten puts everything back"""
    c.write_rubato_conf(conf("TestInject=start-size:2,start-fails"))
    job = c.sbatch("-H --gpus=4 -n4 -c2 --mem=4000 -t 5 --comment='rubato: gpus=2,4,8'", SEES)
    waits = re.compile(r"(JobState|Priority|Reason|\w+Time|LastSchedEval|Sched\w+|Sys\w+|"
                       r"NumNodes)$")

    def shown():
        text = c.cmd(f"squeue -h -j {job} -O NumCPUs:9,NumTasks:9,MinCpus:9,MinMemory:9,"
                     "tres-per-job:20,tres-per-node:20,tres:40")
        # Held and pending jobs have different reasons.
        fields = {k: v for k, v in c.job(job).items() if not waits.match(k)}
        return text.split(), fields

    def refused():
        """Of this job: jobs of the background may be refused too."""
        jobs = published(c, "snapshot.json").get("memory", {}).get("jobs", [])
        return next((known.get("refusals", 0) for known in jobs if known["id"] == job), 0)

    before = shown()
    c.cmd(f"scontrol release {job}")
    c.wait(refused, LONG, "a start that fails")
    after = shown()
    check(after == before, f"job {job} as it was: {before}", after)
    c.write_rubato_conf(conf())
    runs_with(c, job, 4)


@scenario(cluster="jobs", needs=["rubato"], negative="restore", timeout=180)
def node_failure_after_a_crash_restores_the_request(c):
    """After a kill of slurmctld and a node failure a job that ran at another size asks for its own

    What it was submitted with is in its record, so no file of Rubato has to survive.
    """
    c.write_rubato_conf(conf("TestInject=start-size:2"))
    memory = 77 + int(c.fresh_name("").strip("-"))
    job = c.sbatch(f"-H --gpus=4 -n4 --mem-per-gpu={memory} -t 5 --comment='rubato: gpus=2,4,8'", SEES)
    before = request(c, job)
    c.cmd(f"scontrol release {job}")
    runs_with(c, job, 2)
    node = c.job(job)["NodeList"]
    # slurmctld saves jobs within five seconds; a kill before that is another scenario.
    is_saved(c, f"gpu-memory={'gres:' if c.site.version < (23, 11) else 'gres/'}gpu:{memory}", LONG)
    c.kill9_ctld()
    c.cmd("rm -rf " + c.path("state/rubato/state.json"))
    c.start_ctld()
    c.wait_state(job, "RUNNING", LONG)
    check(total(c, job) == 2, "2 GPUs after the restart", c.gpus(job))
    c.defer(f"scontrol update NodeName={node} State=RESUME")
    c.cmd(f"scontrol update NodeName={node} State=DOWN Reason=test")
    c.write_rubato_conf(conf())
    c.wait(lambda: c.job(job).get("Restarts") == "1", LONG, "Slurm to requeue it")
    c.wait(lambda: c.job(job).get("TresPerJob") == "gres:gpu:4", LONG, "its own 4 GPUs")
    c.wait_state(job, "RUNNING", LONG)
    check(total(c, job) == 4, "4 GPUs", c.gpus(job))
    check(c.job(job).get("NumTasks") == before["NumTasks"], "4 tasks", request(c, job))


@scenario(cluster="jobs", needs=["rubato"], negative="restore", timeout=120)
def request_is_restored_in_observe_mode(c):
    """A job that runs at another size gets its request back when Rubato only observes by then"""
    c.write_rubato_conf(conf("TestInject=start-size:2"))
    job = c.sbatch("--gpus=4 -n4 -t 5 --comment='rubato: gpus=2,4,8'", SEES)
    runs_with(c, job, 2)
    c.write_rubato_conf("Mode=observe\n")
    c.cmd(f"scontrol requeue {job}")
    c.wait(lambda: c.job(job).get("TresPerJob") == "gres:gpu:4", LONG, "its own 4 GPUs")
    c.wait_state(job, "RUNNING", LONG)
    check(total(c, job) == 4, "4 GPUs", c.gpus(job))


@scenario(cluster="jobs", needs=["rubato"], negative="rewrite", timeout=120)
def array_tasks_start_at_another_size(c):
    """Tasks of an array start with 2 GPUs each; those that wait still ask for 4"""
    c.write_rubato_conf(conf("TestInject=start-size:2"))
    array = c.sbatch("-a 1-3%2 --gpus=4 -n4 -t 5 --comment='rubato: gpus=2,4'", "sleep 600")
    tasks = [f"{array}_1", f"{array}_2"]
    for task in tasks:
        c.wait_state(task, "RUNNING", LONG)
        check(total(c, task) == 2, f"2 GPUs for {task}", c.gpus(task))
    waiting = c.job(f"{array}_3")
    check(waiting.get("JobState") == "PENDING", "the third to wait", waiting.get("JobState"))
    check(waiting.get("TresPerJob") == "gres:gpu:4" and waiting.get("NumTasks") == "4",
          "its own 4 GPUs and 4 tasks", request(c, f"{array}_3"))
    c.cmd(f"scancel {tasks[0]}")
    c.wait_state(f"{array}_3", "RUNNING", LONG)
    check(total(c, f"{array}_3") == 2, "2 GPUs for the third", c.gpus(f"{array}_3"))


@scenario(cluster="accounts", needs=["rubato", "dbd"], negative="rewrite", timeout=180)
def limits_are_tested_at_the_planned_size(c):
    """GrpTRES=gres/gpu=3: a job for 2 GPUs that is planned with 4 waits, and runs with its own 2

    Slurm says QOSGrpGRES, and the request stays what it was. sacct shows what a job ran with.
    """
    three = make_qos(c, "three", "GrpTRES=gres/gpu=3")
    c.write_rubato_conf(conf("TestInject=start-size:4"))
    job = c.sbatch(f"--qos={three} --gpus=2 -n2 -t 5 --comment='rubato: gpus=2,4'", SEES)
    c.wait(lambda: "QOSGrpGRES" in c.ask(f"squeue -h -j {job} -o '%T %r'"), LONG, "QOSGrpGRES")
    check(c.job(job).get("TresPerJob") == "gres:gpu:2", "its own request", request(c, job))
    c.write_rubato_conf(conf())
    runs_with(c, job, 2)
    c.cmd(f"scancel {job}")
    c.write_rubato_conf(conf("TestInject=start-size:1"))
    small = c.sbatch(f"--qos={three} --gpus=2 -n2 -t 5 --comment='rubato: gpus=1,2'", SEES)
    runs_with(c, small, 1)
    rows = c.wait(lambda: _sacct(c, small, "gres/gpu=1"), LONG, "sacct to show one GPU")
    c.say(rows)


def _sacct(c, job, words):
    text = c.ask(f"sacct -nXP -j {job} -o JobID,ReqTRES,AllocTRES", check=False)
    return text if words in text else ""
