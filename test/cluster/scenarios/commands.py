# SPDX-License-Identifier: GPL-2.0-or-later
"""User commands with a live slurmctld: rqueue, and rubato with readable and unreadable published
files."""
import json
import pathlib
import re
import string

from cluster import Failed, Nodes, Partition, check, scenario, second_user, shape

from . import steps

CONF = ("Mode=place\nManagedPartitions=all\nMessageInterval=0\nPublishInterval=0.2\n"
        "TestInject=segment-interval:1\n"
        "GpuType=h100 Speed=3\nGpuType=a100 Speed=2\nGpuType=v100 Speed=1\n")
NODES = (Nodes("n[1-4]", "a100:4"), Nodes("n[5-6]", "h100:8"))
PARTITIONS = (Partition("main", "n[1-6]", default=True), Partition("side", "n[3-4]"))

shape("commands", nodes=NODES, partitions=PARTITIONS, rubato_conf=CONF)
shape("private", nodes=NODES, partitions=PARTITIONS, rubato_conf=CONF,
      options={"PrivateData": "jobs"})

HINTS = "rubato:job-type=resnet50;gpus=1-4;samples=10000;checkpoint=USR1"
# Names of squeue -O in 22.05 with values that do not change every second.
STEADY = """account accruetime admin_comment allocnodes allocsid arrayjobid arraytaskid associd batchflag
 batchhost boardspernode burstbuffer burstbufferstate cluster clusterfeature command comment container
 contiguous cores corespec cpus-per-task cpus-per-tres deadline delayboot dependency derivedec
 eligibletime endtime exit_code feature gres groupid groupname hetjobid hetjobidset hetjoboffset jobarrayid
 jobid licenses maxcpus maxnodes mcslabel mem-per-tres mincpus minmemory mintime mintmpdisk name
 network nice nodelist ntpercore ntpernode ntpersocket ntperboard numcpus numnodes numtasks origin
 originraw oversubscribe partition preempttime prefer priority prioritylong profile qos reasonlist
 reason reboot reqnodes reqswitch requeue reservation resizetime restartcnt sct selectjobinfo shared
 siblingsactive siblingsactiveraw siblingsviable siblingsviableraw sockets sperboard state statecompact stderr
 stdin stdout submittime threads timelimit tres-alloc tres-bind tres-freq tres-per-job tres-per-node
 tres-per-socket tres-per-task userid username wait4switch wckey workdir""".split()


def steady(c):
    """Fields of squeue -O whose values stay; 24.11 lacks one of 22.05."""
    return [name for name in STEADY if name != "selectjobinfo" or c.site.version < (24, 11)]


# Letters for elapsed times, or for values that the scheduler changes all the time.
MOVING = set("LMSY")


def training(c, options="--gpus=a100:2", user=None):
    """A running job with a job type and a report; waits until Rubato shows it."""
    job = c.sbatch(f"{options} -t 5 --comment='{HINTS}'", "sleep 900", user=user, name="train")
    c.wait_state(job, "RUNNING", 15)
    c.cmd(f"rubato report --job {job} --samples 2500 --rate 125 --batch 64", user=user)
    c.wait(lambda: "rate=" in c.job(job).get("SystemComment", ""), 15, "the segment of the job")
    return job


def columns(c, job, names, user=None):
    return c.cmd("rqueue -h -j %s -O '%s'" % (job, ",".join(f"{n}:0|" for n in names)),
                 user=user).split("|")[:-1]


@scenario(cluster="commands", needs=["rubato"], negative="segment", timeout=60)
def rqueue_shows_hinted_unhinted_and_cpu_jobs(c):
    """rqueue shows what a job says, what it reports and what it waits for"""
    hinted = training(c)
    plain = c.sbatch("--gpus=h100:1 -t 5", "sleep 900", name="plain")
    cpu = c.sbatch("-n1 -t 5 -p side", "sleep 900", name="cpu")
    waits = c.sbatch("--gpus=h100:16 -N2 --exclusive -t 5 --comment='rubato:job-type=big'",
                     "sleep 1", name="waits")
    c.wait_state(plain, "RUNNING", 15)
    c.wait_state(cpu, "RUNNING", 15)
    own = ("dljobtype", "dlgpus", "dlsizes", "dlrate", "dlsamples", "dlprogress", "dlremaining")
    seen = columns(c, hinted, own)
    check(seen[:6] == ["resnet50", "2xa100", "1-4", "125", "2500", "25%"], "what it reported", seen)
    check(re.fullmatch(r"\d+:\d\d", seen[6]), "7500 samples at 125 a second: a minute", seen[6])
    check(columns(c, plain, own) == ["-", "1xh100", "-", "-", "-", "-", "-"] or
          columns(c, plain, own)[:2] == ["-", "1xh100"], "no type of an unhinted job")
    check(columns(c, cpu, own) == ["-"] * 7, "nothing of a job without GPUs")
    c.wait(lambda: c.ask(f"rqueue -h -j {waits} -O dlwait:0") not in ("", "-"), 15,
           "a reason why the big job waits")
    text = c.cmd("COLUMNS=80 rqueue -p main,side")
    check(all(len(line) <= 80 for line in text.splitlines()), "lines of at most 80 columns", text)
    for job in (hinted, plain, cpu, waits):
        check(re.search(rf"^ *{job} ", text, re.M), f"job {job} in the list", text)
    document = json.loads(c.ask(f"rqueue --json -j {hinted}"))
    mine = document["jobs"][0]
    check(mine["rubato"]["rate"] == 125 and mine["rubato"]["samples"] == 2500 and
          mine["gpus"] == 2 and mine["start"] > 1e9, "the same in JSON", mine)


@scenario(cluster="commands", needs=["rubato"], negative="rewrite", timeout=120)
def rqueue_tells_the_gpus_a_job_started_with(c):
    """A job for 4 GPUs that starts with 2 has 2 in rqueue while it runs, and after it was cancelled

    Rubato's annotation of the waiting job says 4, and no round rewrites it before the job ends.
    """
    text = CONF.replace("segment-interval:1", "segment-interval:1,start-size:2")
    c.write_rubato_conf(text)
    job = c.sbatch("--begin=now+1hour --gpus=4 -n4 -t 5 --comment='rubato: gpus=2,4'", "sleep 900")
    c.wait(lambda: "gpus=4" in c.job(job).get("SystemComment", ""), 40, "the annotation of the job")
    c.write_rubato_conf(text + "RoundInterval=600\n")
    c.cmd(f"scontrol update JobId={job} StartTime=now")
    c.wait_state(job, "RUNNING", 40)
    c.cmd(f"scontrol show job -d {job} | grep -E 'GRES|SystemComment'")
    held = sum(sum(types.values()) for types in c.gpus(job).values())
    check(held == 2, "2 GPUs", c.gpus(job))
    seen = columns(c, job, ("dlgpus", "dlwait"))
    check(seen[0].startswith("2") and seen[1] == "-", "2 GPUs, and no wait, in rqueue", seen)
    c.cmd(f"scancel {job}")
    c.wait_state(job, "CANCELLED", 40)
    seen = c.cmd(f"rqueue -h -t all -j {job} -O dlgpus:0")
    check(seen.startswith("2"), "2 GPUs of the cancelled job", seen)


@scenario(cluster="commands", needs=["rubato"], negative="segment", timeout=120)
def left_in_rqueue_runs_down_and_ends(c):
    """RATE shows from the first report on; LEFT falls between two reports, and ends with the job

    Annotations are rewritten once an hour here, but for a first report.
    """
    c.write_rubato_conf(CONF.replace("segment-interval:1", "segment-interval:3600"))
    job = c.sbatch(f"--gpus=a100:2 -t 5 --comment='{HINTS}'", "sleep 900")
    c.wait_state(job, "RUNNING", 40)
    c.wait(lambda: "gpus=2" in c.job(job).get("SystemComment", ""), 40, "the annotation of the job")
    c.cmd(f"rubato report --job {job} --samples 2500 --rate 5 --batch 64")

    def left():
        return json.loads(c.ask(f"rqueue --json -t all -j {job}"))["jobs"][0]["rubato"]
    first = c.expect(left, lambda seen: seen.get("rate") == 5 and seen.get("remaining", 0) > 0,
                     "rate and remaining time in rqueue")
    c.expect(lambda: left().get("remaining", 0), lambda now: 0 < now <= first["remaining"] - 3,
             "less remaining time without a report")
    c.cmd(f"scancel {job}")
    c.wait_state(job, "CANCELLED", 40)
    seen = c.cmd(f"rqueue -h -t all -j {job} -O 'dlremaining:0|,dlinterval:0|,dlrate:0'")
    check(seen == "-|-|5.00", "no remaining time of an ended job", seen)


@scenario(cluster="commands", needs=["rubato"], negative="publish", timeout=120)
def explain_sums_up_an_array_and_tells_how_jobs_ended(c):
    """explain counts the tasks of an array and names the nodes of each; of ended jobs it has state and speed

    16 a100 carry four tasks of 4 GPUs. One job fails with exit code 3, another is cancelled after a report.
    """
    array = c.sbatch("-a 1-30 --gpus=a100:4 -t 5", "sleep 900")
    c.wait(lambda: len([job for job in c.jobs("RUNNING")]) >= 4, 40, "four tasks to run")

    def summary():
        return json.loads(c.ask(f"rubato explain {array} --json 2>/dev/null", check=False) or "{}")
    c.expect(lambda: summary().get("array", {}).get("tasks"), {"running": 4, "pending": 26},
             "4 tasks running and 26 pending")
    text = c.cmd(f"rubato explain {array}")
    check("4 running, 26 pending" in text, "the counts in the text", text)
    tasks = c.expect(lambda: [job for job in summary()["jobs"] if "decision" in job],
                     lambda found: len(found) == 4, "the decisions of four tasks")
    for task in tasks:
        nodes = [node["name"] for node in task["nodes"]]
        decision = task["decision"]
        check(decision["planned_nodes"] == nodes and
              f"starts on {nodes[0]} " in decision["reason"], f"a start on {nodes}", decision)
    fails = c.sbatch("--gpus=h100:1 -t 5", "sleep 2; exit 3")
    c.wait_state(fails, "FAILED", 40)
    c.expect(lambda: c.ask(f"rubato explain {fails}", check=False),
             lambda said: "failed (exit code 3; NonZeroExitCode)" in said,
             "state, exit code and reason of the failed job")
    trains = training(c, "--gpus=h100:2")
    c.cmd(f"scancel {trains}")
    c.wait_state(trains, "CANCELLED", 40)
    said = c.expect(lambda: c.ask(f"rubato explain {trains}", check=False),
                    lambda said: "cancelled" in said and "last report" in said,
                    "state and throughput of the cancelled job")
    c.say(said)
    check("125 samples/s" in said and "after 2500" in said, "its last report", said)


@scenario(cluster="commands", needs=["rubato"], negative="messages", timeout=120)
def last_report_within_the_interval_counts(c):
    """A job that reports again within MessageInterval and ends: its last report is stored"""
    c.write_rubato_conf(CONF.replace("MessageInterval=0", "MessageInterval=600"))
    job = c.sbatch(f"--gpus=a100:1 -t 5 --comment='{HINTS}'", "sleep 900")
    c.wait_state(job, "RUNNING", 40)
    c.cmd(f"rubato report --job {job} --samples 100 --rate 50 --batch 10")
    c.wait(lambda: "samples=100" in c.job(job).get("SystemComment", ""), 40, "the first report")
    c.cmd(f"rubato report --job {job} --samples 9000 --rate 50 --batch 10", check=False)
    c.cmd(f"rubato report --job {job} --samples 10000 --rate 50 --batch 10", check=False)
    c.cmd(f"scancel {job}")
    c.wait_state(job, "CANCELLED", 40)

    def ended():
        text = c.ask(f"rubato explain {job} --json 2>/dev/null", check=False)
        return (json.loads(text or "{}").get("jobs") or [{}])[0]
    seen = c.expect(ended, lambda told: told.get("state") == "ended", "the ended job in explain")
    seen = c.expect(ended, lambda told: told.get("samples") == 10000, "10000 samples done")
    check(seen["slurm_state"] == "cancelled", "its state", seen)


def widths_are_lost(c):
    """Negative control: rqueue asks squeue for whole values, and so neither cuts nor pads them."""
    env = c.client_env
    c.client_env = lambda user=None: {**env(user), "RUBATO_TESTING": "1", "RUBATO_TEST_OFF": "width"}
    c.defer(lambda: vars(c).pop("client_env"))


@scenario(cluster="commands", needs=["rubato"], negative=widths_are_lost, timeout=120)
def rqueue_prints_what_squeue_prints(c):
    """Every letter and field of squeue looks the same in rqueue, with Rubato's fields beside it"""
    job = training(c)
    c.sbatch("-n1 -t 5 -x n3 --nice=5", "sleep 900", name="a-rather-long-name")
    c.sbatch("-n1 -t 5 -a 1-20%2", "sleep 900", name="tasks")
    c.sbatch("--gpus=16 -t 5 --hold", "sleep 1", name="held")
    c.wait(lambda: len(c.jobs("RUNNING")) >= 4, 15, "four running jobs")

    def same(options, ours=""):
        """rqueue between two calls of squeue equals one of them: jobs may change meanwhile."""
        script = f"squeue {options}; echo ---; rqueue {ours or options}; echo ---; squeue {options}"

        def alike():
            before, rqueue, after = c.ask(script).split("---")
            return rqueue.strip("\n") in (before.strip("\n"), after.strip("\n")) or None
        try:
            c.wait(alike, 2)
        except Failed:
            _, rqueue, after = c.ask(script).split("---")
            raise Failed(f"expected rqueue {options} as squeue prints it:\n{after}; seen: "
                         f"{rqueue}") from None

    gone = {"s"} if c.site.version >= (24, 11) else set()     # selectjobinfo, which squeue has no longer
    letters = [letter for letter in string.ascii_letters if letter not in MOVING | gone]
    names = steady(c)
    c.say(f"$ squeue / rqueue -o: {len(letters)} letters, -O: {len(names)} fields, widths, order")
    for chunk in range(0, len(letters), 8):
        some = letters[chunk:chunk + 8]
        for before in ("%", "%.7", "%30", "%.0"):
            same("-p main,side,bg -o '<" + ">|<".join(before + letter for letter in some) + ">'")
    for chunk in range(0, len(names), 10):
        some = names[chunk:chunk + 10]
        for width in ("", ":5", ":.30|", ":0;", ":-1"):
            same("-O '" + ",".join(name + width for name in some) + "'")
    for letter in MOVING:
        same(f"-h -o '%.12{letter}|%i'")
    unique = ["--array-unique"] if c.site.version < (24, 11) else []
    for filters in ["-u root", "-t PD", "-t all", "-n tasks", "-w n1", "-r -n tasks", "-S i",
                    "-S -i", "--me", "-P", "-a", f"-j {job}", "-p side"] + unique:
        same(f"{filters} -o '%i %j %T'")
    seen = c.cmd(f"rqueue -h -j {job} -o '%i|%8{{jobtype}}|%.6{{rate}}|%T'")
    check(seen == f"{job}|resnet50|   125|RUNNING", "both in one line", seen)


@scenario(cluster="commands", needs=["rubato", "root", "second-user"], negative="segment",
          timeout=60)
def commands_on_a_login_node(c):
    """A user who cannot read slurmctld's folders sees the job by squeue and the segment"""
    user = second_user()
    job = training(c, user=user)
    c.cmd(f"chmod 700 {c.path('state')}")
    c.defer(f"chmod 755 {c.path('state')}")
    denied = c.cmd("rubato models", check=False, user=user)
    check(denied.rc == 4 and "Permission denied" in denied, "why nothing is shown", denied)
    denied = c.cmd("rubato stats", check=False, user=user)
    check(denied.rc == 4 and "PublishDir=" in denied, "what would open it", denied)
    seen = columns(c, job, ("dljobtype", "dlrate", "dlprogress"), user=user)
    check(seen == ["resnet50", "125", "25%"], "rqueue to need none of them", seen)
    text = c.cmd(f"rubato explain {job}", user=user)
    check("Permission denied" in text and "125 samples/s" in text and "resnet50" in text,
          "explain to tell the job's own segment, and what is missing", text)


@scenario(cluster="private", needs=["rubato", "root", "second-user"], negative="private-data",
          timeout=60)
def commands_honour_private_data(c):
    """With PrivateData=jobs a user sees own jobs, and of others nothing"""
    user = second_user()
    others = training(c)
    mine = training(c, user=user)
    c.wait(lambda: all(c.ask(f"rubato explain {job}", check=False).rc == 0 for job in (others, mine)), 15,
           "both jobs in a plan")
    steps.published_again(c)    # by the mode that rubato.conf has now
    listed = c.cmd("rqueue -h -O jobid:0", user=user).split()
    check(listed == [str(mine)], "own jobs only", listed)
    document = json.loads(c.ask("rqueue --json", user=user))
    check([str(job["job_id"]) for job in document["jobs"]] == [str(mine)], "the same in JSON")
    hidden = c.cmd(f"rubato explain {others}", check=False, user=user)
    check(hidden.rc == 3 and "resnet50" not in hidden, "no such job", hidden)
    own = c.cmd(f"rubato explain {mine}", user=user)
    check("resnet50" in own and "125 samples/s" in own, "the own job", own)
    models = c.cmd("rubato models", check=False, user=user)
    check("PrivateData=jobs" in models and "resnet50" not in models, "no profile of others", models)


@scenario(cluster="commands", needs=["rubato"], negative="publish", timeout=90)
def commands_while_slurmctld_is_down(c):
    """Without slurmctld rqueue ends with squeue's own message, and rubato tells what was last"""
    job = training(c)
    c.ask(f"rm -f {c.path('state/rubato/publish')}/*.json")
    c.wait(lambda: "running since" in c.ask(f"rubato explain {job}", check=False) and
           c.ask("rubato stats", check=False).rc == 0, 30, "a round that saw the job, and counters")
    c.stop_ctld()
    c.defer(c.start_ctld)
    # A client tries for as long as its slurm.conf says.
    conf = pathlib.Path(c.path("out", c.fresh_name("slurm") + ".conf"))
    conf.write_text(re.sub(r"(?m)^(MessageTimeout|SlurmctldTimeout)=.*$", r"\1=2",
                           pathlib.Path(c.conf()).read_text()))
    down = c.cmd("rqueue", check=False, timeout=60, env={"SLURM_CONF": str(conf)})
    c.say(f"after {down.seconds:.1f} s")
    check(down.rc == 1 and "slurm_load_jobs error" in down, "squeue's error", down)
    stats = c.expect(lambda: c.ask("rubato stats", check=False), lambda said: said.rc == 4 and
                     "loop is not running" in said and "Rounds" in said,
                     "old counters, and that they are old")
    c.say(stats)
    old = c.cmd(f"rubato explain {job}", check=False)
    check(old.rc == 4 and "running since" in old, "what the last round saw", old)


def whatif(c, options):
    """The alternatives that `rubato whatif` prints, by name."""
    text = c.ask(f"rubato whatif {options} --json", check=False)
    return {row["alternative"]: row for row in json.loads(text or "{}").get("alternatives", [])}


def moment(c, job, field):
    """A time that squeue prints, Unix seconds. Each cycle of stock backfill clears starts for a moment."""
    def shown():
        text = c.ask(f"squeue -h -j {job} -o {field}")
        return 0 if text in ("", "N/A") else int(c.ask(f"date -d {text} +%s"))
    return c.wait(shown, 15, f"a time of job {job} in squeue")


@scenario(cluster="quiet", needs=["rubato"], negative="publish")
def whatif_tells_what_sbatch_then_gets(c):
    """rubato whatif tells a start that the same job then gets: at once on a free GPU type, else by the time limits

    A user sees a table of the job as written and on each GPU type, before submission.
    """
    held = [c.sbatch(f"-w n{node} --gpus=h100:8 -t {minutes}", "sleep 900") for node, minutes in ((5, 30), (6, 90))]
    for job in held:
        c.wait_state(job, "RUNNING", 15)
    ends = min(moment(c, job, "%e") for job in held)
    c.wait(lambda: [job["state"] for job in steps.published(c, "snapshot.json").get("jobs", [])] == ["running"] * 2,
           15, "both jobs in a snapshot")
    script = c.path("ask.sh")
    pathlib.Path(script).write_text("#!/bin/bash\n#SBATCH --job-name=ask --time=5 -G 2\n#SBATCH --constraint=x\ntrue\n")
    said = c.cmd(f"rubato whatif {script}")
    check("--constraint is not considered" in said, "what is left out of the script", said)
    free = whatif(c, "-G 2 -t 5")
    check(set(free) == {"as written", "on a100", "on h100", "on v100"}, "each GPU type", set(free))
    now = steps.published(c, "snapshot.json")["taken"]
    check(free["on a100"]["start"] <= now, "a start at once on a100", free["on a100"])
    later = whatif(c, "-G h100:8 -t 5")["as written"]
    check(abs(later["latest"] - ends) <= 5, f"a start by {ends}, when the first job reaches its limit", later)
    job = c.sbatch("-G h100:8 -t 5", "sleep 900")
    start = moment(c, job, "%S")
    c.cmd(f"squeue --start -h -j {job} -o '%i %S %Y'")
    check(abs(start - later["latest"]) <= 5, "the start that whatif told", (start, later["latest"]))
    c.cmd(f"scancel {held[0]}")
    c.wait_state(job, "RUNNING", 20)
    refused = c.cmd("rubato whatif -p mainn -G 1", check=False)
    check(refused.rc == 1, "exit code 1 for a partition that there is not", refused.rc)
