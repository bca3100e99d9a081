# SPDX-License-Identifier: GPL-2.0-or-later
"""Which nodes a GPU job may have: names, features, owners, exclusive use, forms of the request."""
from cluster import check, scenario, second_user

from .authority import STOPPED, runs, stays


def everything_may_be_shared(c):
    """Negative control: --exclusive is removed from the submissions, and `owned` has no owner."""
    original = c.sbatch

    def sbatch(options, *rest, **more):
        for word in ("--exclusive=user", "--exclusive"):
            options = options.replace(word, "")
        return original(options, *rest, **more)
    c.sbatch = sbatch
    c.defer(lambda: delattr(c, "sbatch"))
    c.ask("scontrol update PartitionName=owned ExclusiveUser=NO")
    c.defer("scontrol update PartitionName=owned ExclusiveUser=YES")


@scenario(cluster="authority", needs=["rubato"], negative=STOPPED)
def node_names_and_features(c):
    """-w, -x, -C (one, &, |, [a|b], counts) and --contiguous hold for GPU jobs

    An admin sees: each job in NodeList only on nodes its request allows.
    """
    spread = c.sbatch("-N3 --gpus-per-node=2 --contiguous -x n[1-3] -t 5", "sleep 900")
    asked = {
        c.sbatch("-w n3 --gpus=1 -t 5", "sleep 900"): "n3",
        c.sbatch("-w n[1-2] -N2 --gpus-per-node=1 -t 5", "sleep 900"): "n[1-2]",
        c.sbatch("-x n[1-6] --gpus=v100:1 -t 5", "sleep 900"): "n7 n8",
        c.sbatch("-C a100 --gpus=1 -t 5", "sleep 900"): "n1 n2 n3 n4",
        c.sbatch("-C 'h100&v100' --gpus=1 -t 5", "sleep 900"): "n8",
        c.sbatch("-C 'a100|h100' -x n[1-3],n8 --gpus=1 -t 5", "sleep 900"): "n4 n5 n6",
        c.sbatch("-C '[a100|h100]' -N2 --gpus-per-node=1 -t 5", "sleep 900"):
            "n[1-2] n[1,3] n[1,4] n[2-3] n[2,4] n[3-4] n[5-6] n[5,8] n[6,8]",
    }
    nodes = runs(c, spread)["NodeList"]
    check(nodes in ("n[4-6]", "n[5-7]"), f"job {spread} on three nodes side by side", nodes)
    for job, allowed in asked.items():
        seen = runs(c, job)["NodeList"]
        check(seen in allowed.split(), f"job {job} on one of {allowed}", seen)
    c.cmd("squeue -h -t R -p main -o '%.6i %N %f'")


@scenario(cluster="authority", needs=["rubato", "second-user"], negative=everything_may_be_shared)
def exclusive_nodes_and_owners(c):
    """--exclusive, --exclusive=user and an ExclusiveUser partition hold for GPU jobs

    An admin sees: nothing else on the node of an --exclusive job; on a node with an owner only
    that user's jobs, while another user's wait, and start when the owner's are gone.
    """
    other = second_user()
    alone = c.sbatch("--exclusive -w n6 --gpus=h100:1 -t 5", "sleep 900")
    runs(c, alone)
    beside = c.sbatch("-w n6 --gpus=h100:1 -t 5", "sleep 0.2")
    mine = c.sbatch("--exclusive=user -w n1 --gpus=a100:1 -t 5", "sleep 900")
    owner = c.sbatch("-p owned -w n3 --gpus=a100:1 -t 5", "sleep 900")
    runs(c, mine)
    runs(c, owner)
    mine_too = c.sbatch("-w n1 --exclusive=user --gpus=a100:1 -t 5", "sleep 900")
    owner_too = c.sbatch("-p owned -w n3 --gpus=a100:1 -t 5", "sleep 900")
    theirs = [c.sbatch("-w n1 --gpus=a100:1 -t 5", "sleep 0.2", user=other),
              c.sbatch("-p owned -w n3 --gpus=a100:1 -t 5", "sleep 0.2", user=other)]
    free = c.sbatch("-p owned --gpus=a100:1 -t 5", "sleep 0.2", user=other)
    runs(c, mine_too)
    runs(c, owner_too)
    check(runs(c, free)["NodeList"] == "n4", f"job {free} on the free node of `owned`")
    for job in (beside, *theirs):
        stays(c, job, "PENDING", 0.5)
    c.cmd("squeue -p main,owned -o '%.6i %.6P %.12u %.8T %N %r' | grep -v bg-")
    check(c.nodes()["n6"]["State"].startswith("ALLOCATED"), "n6 to be allocated whole")
    c.cmd(f"scancel {alone} {mine} {mine_too} {owner} {owner_too}")
    for job in (beside, *theirs):
        runs(c, job)


@scenario(cluster="authority", needs=["rubato"], negative=STOPPED)
def forms_of_gpu_request(c):
    """Every way to ask for GPUs starts with exactly what it asked, as `scontrol show job -d` says

    --gpus, --gres, --gpus-per-node, --gpus-per-task, --mem-per-gpu, --cpus-per-gpu and
    --ntasks-per-gpu, with and without a type.
    """
    def total(job):
        return sum(n for kinds in c.gpus(job).values() for n in kinds.values())
    asked = {   # options: (GPUs, CPUs, nodes, memory)
        "--gpus=a100:3 -n1": (3, 1, 1, None),
        "--gpus=2 -N2 -n2 -C a100": (2, 2, 2, None),
        "--gres=gpu:h100:3 -N1": (3, 1, 1, None),
        "--gpus-per-node=2 -N2 -n4 -C a100": (4, 4, 2, None),
        "--gpus-per-task=a100:1 -n2": (2, 2, None, None),
        "--gpus=h100:2 -n1 -N1 --mem-per-gpu=3G": (2, 1, 1, "6G"),
        "--gpus=h100:2 -N1 -n1 --cpus-per-gpu=4": (2, 8, 1, None),
        "--gpus=v100:2 --ntasks-per-gpu=2 -N1": (2, 4, 1, None),
        "--gpus=h100:2 -N1 -n1 --mem=7G": (2, 1, 1, "7G"),
    }
    jobs = {c.sbatch(f"{options} -t 5", "sleep 900"): options for options in asked}
    for job, options in jobs.items():
        seen = runs(c, job)
        gpus, cpus, nodes, memory = asked[options]
        check(total(job) == gpus, f"{gpus} GPUs for {options}", c.gpus(job))
        check(int(seen["NumCPUs"]) == cpus, f"{cpus} CPUs for {options}", seen["NumCPUs"])
        check(nodes in (None, int(seen["NumNodes"])), f"{nodes} nodes for {options}",
              seen["NumNodes"])
        if memory:
            tres = seen["TRES"].split(",")
            check(f"mem={memory}" in tres, f"mem={memory} for {options}", seen["TRES"])
        kind = next((k for k in ("a100", "h100", "v100") if f"{k}:" in options), None)
        kinds = {k for node in c.gpus(job).values() for k in node}
        check(kind is None or kinds == {kind}, f"only {kind} for {options}", kinds)
    last = max(jobs)
    c.cmd(f"scontrol show job -d {last} | grep -E 'JOB_GRES|GRES=|TRES|NumNodes'")


@scenario(cluster="authority", needs=["rubato"], negative="type")
def untyped_job_on_mixed_node(c):
    """On a node with two GPU types an untyped job gets the type Rubato chose, typed ones their own

    An admin sees: JOB_GRES of the untyped job is the faster type that is free, also after a
    requeue to other circumstances; the request itself (TresPerJob) stays untyped.
    """
    first = c.sbatch("-w n8 --gpus=1 -t 5 --requeue", "echo $CUDA_VISIBLE_DEVICES; sleep 900")
    runs(c, first)
    check(c.gpus(first) == {"n8": {"h100": 1}}, "the faster type for the first job", c.gpus(first))
    second = c.sbatch("-w n8 --gpus=1 -t 5", "sleep 900")
    runs(c, second)
    check(c.gpus(second) == {"n8": {"v100": 1}}, "the other type for the next", c.gpus(second))
    typed = c.sbatch("-w n8 --gpus=h100:1 -t 5", "sleep 900")
    stays(c, typed, "PENDING", 0.7)
    c.cmd(f"scontrol requeue {first}")
    runs(c, typed)
    check(c.gpus(typed) == {"n8": {"h100": 1}}, "the type asked for", c.gpus(typed))
    c.cmd(f"scancel {second}")
    c.wait_state(second, "CANCELLED", 10)
    c.wait_state(first, "RUNNING", 25)
    check(c.gpus(first) == {"n8": {"v100": 1}}, "the type that is free after the requeue",
          c.gpus(first))
    answer = c.cmd(f"scontrol show job -d {first} | grep -E 'TresPerJob|JOB_GRES'")
    check("TresPerJob=gres:gpu:1" in answer.replace("=gres/", "=gres:"), "an untyped request", answer)
