# SPDX-License-Identifier: GPL-2.0-or-later
"""Reports and their effects: the store, models.json, system_comment."""
import contextlib
import os
import pathlib
import re
import sqlite3
import time

from cluster import check, scenario, shape

from . import steps
from .steps import published

# Every report counts, and annotations follow within a second.
CONF = steps.conf("MessageInterval=0", "TestInject=segment-interval:1")
HINTS = "rubato:job-type={};gpus=1-8;samples=100000"

shape("remember", rubato_conf=CONF)


def database(c):
    return c.path("state/rubato/rubato.db")


def rows(c, query, path=None):
    """Rows of rubato.db, read like any program would; [] if there is no such file."""
    try:
        base = sqlite3.connect(f"file:{path or database(c)}?mode=ro", uri=True, timeout=5)
        with contextlib.closing(base):      # a reader that stays open keeps the journal alive
            return base.execute(query).fetchall()
    except sqlite3.OperationalError:
        return []


def samples(c, job, path=None):
    """(samples done, samples/s, GPU type, GPUs, flag) of a job's reports in the store."""
    return rows(c, "SELECT samples_done, rate, gpu_type, gpus, flag FROM samples "
                   f"WHERE job_id = {job} ORDER BY id", path)


def store_stats(c):
    return published(c, "stats.json").get("store", {})


def report(c, job, done, rate, batch=64):
    """Sends a report like a training loop: `rubato!report` in the comment."""
    c.cmd(f"scontrol update JobId={job} Comment='rubato!report "
          f"samples={done};rate={rate};batch={batch}'")


def typed_job(c, kind=None, options="-w n1 --gpus=a100:2 -t 60", hints=HINTS):
    """A running job of type `kind`. The default is a new type, so that its profile has no other
    reports."""
    job = c.sbatch(f"{options} --comment='{hints.format(kind or c.fresh_name())}'", "sleep 600")
    c.wait_state(job, "RUNNING")
    return job


def profile(c, kind):
    """The row of a job type in models.json, {} if there is none. Its jobs run in one configuration."""
    found = [row for row in published(c, "models.json").get("models", [])
             if row["job_type"] == kind]
    check(len(found) < 2, f"one row of {kind} in models.json", found)
    return found[0] if found else {}


def segment(c, job):
    """The annotation in a job's system_comment as squeue prints it, "" if there is none."""
    text = c.ask(f"squeue -h -t all -j {job} -O system_comment:1024", check=False)
    found = re.search(r"\{rubato [^{}]*\}", text)
    return found[0] if found else ""


def word(c, job, key):
    """One value of the annotation, "" if it is missing."""
    found = re.search(rf"[ ]{key}=([^ }}]+)", segment(c, job))
    return found[1] if found else ""


# -- reports ---------------------------------------------------------------------------------------


@scenario(cluster="remember", needs=["rubato"], negative="store")
def report_lands_in_the_store(c):
    """A running job reports; rubato.db and models.json have it, and the comment is untouched

    An admin sees one row with what the job said and what Slurm gave it, and the profile of its job
    type; the comment of the job still has its hints.
    """
    kind = c.fresh_name("resnet50")
    job = typed_job(c, kind)
    comment = c.job(job).get("Comment")
    report(c, job, 40, 50)
    found = c.wait(lambda: samples(c, job), 30, "the report in rubato.db")
    c.say(f"rubato.db: {found}")
    check(found == [(40, 50.0, "a100", 2, "")], "one sample of 2 a100", found)
    check(c.job(job).get("Comment") == comment, f"the comment {comment}", c.job(job).get("Comment"))
    row = c.expect(lambda: profile(c, kind), lambda row: row.items() >= {
        "gpu_type": "a100", "gpus": 2, "samples": 1, "flagged": 0, "rate_last": 50}.items(),
        "one sample of rate 50 in models.json")
    c.say(f"models.json: {row}")
    c.expect(lambda: rows(c, f"SELECT samples_done, attained >= 0 FROM jobs WHERE job_id = {job}"),
             [(40, 1)], "its samples and its attained service in the table of jobs")
    c.wait(lambda: ("start",) in rows(c, f"SELECT kind FROM decisions WHERE job_id = {job}"), 30,
           "the decision to start it")


def reports_are_true(c):
    """Negative control: the wild report equals the others."""
    steps.replace(c, "wild", 50)


@scenario(cluster="remember", needs=["rubato"], negative=reports_are_true)
def wild_report_is_flagged(c):
    """A report far above what the job could have done is kept, flagged, and in no mean

    An admin sees both rows in rubato.db, the reason of the flag, and a mean of the true one alone.
    """
    kind = c.fresh_name("wild")
    job = typed_job(c, kind)
    report(c, job, 50, 50)
    c.wait(lambda: samples(c, job), 10, "the first report in rubato.db")
    time.sleep(2.1)
    report(c, job, 160, getattr(c, "wild", 5000))
    found = c.wait(lambda: len(samples(c, job)) > 1 and samples(c, job), 10, "both in rubato.db")
    c.say(f"rubato.db: {found}")
    check(found[0][4] == "" and found[1][4] == "wall-time",
          "the second to be flagged wall-time and the first not", found)
    c.expect(lambda: profile(c, kind), lambda row: row.items() >= {
        "samples": 2, "flagged": 1, "rate_mean": 50, "rate_max": 50}.items(),
        "two samples in models.json, one flagged, mean and maximum 50")


@scenario(cluster="remember", needs=["rubato"], negative="store")
def untyped_job_makes_no_profile(c):
    """A report of a job without job type moves its segment and leaves no sample"""
    job = typed_job(c, hints="just words")
    report(c, job, 640, 50)
    c.wait(lambda: word(c, job, "samples") == "640", 15, "its progress in system_comment")
    typed = typed_job(c, options="-w n2 --gpus=a100:1 -t 60")
    report(c, typed, 10, 50)
    c.wait(lambda: samples(c, typed), 10, "the later report of a typed job in rubato.db")
    check(samples(c, job) == [], "no sample of the untyped job", samples(c, job))


# -- system_comment --------------------------------------------------------------------------------


@scenario(cluster="remember", needs=["rubato"], negative="segment", timeout=120)
def segment_follows_the_job(c):
    """The segment of system_comment tells what a job runs on and how far it is

    A user sees it with scontrol and squeue, changing with each report, at most 256 bytes; it
    survives a restart of slurmctld, and stands in the record of the job when it has ended.
    """
    kind = c.fresh_name("resnet50")
    job = typed_job(c, kind)
    c.wait(lambda: segment(c, job), 6, "a segment")
    c.cmd(f"scontrol show job {job} | grep SystemComment")
    for key, value in {"job-type": kind, "gpu-type": "a100", "gpus": "2",
                       "sizes": "1-8"}.items():
        check(word(c, job, key) == value, f"{key}={value}", segment(c, job))
    report(c, job, 1000, 50)
    c.wait(lambda: word(c, job, "samples") == "1000", 15, "samples=1000")
    c.cmd(f"squeue -j {job} -O JobID,system_comment:140")
    check(word(c, job, "rate") == "50" and word(c, job, "remaining") == "1980",
          "rate=50 and (100000 - 1000) / 50 = 1980 s remaining", segment(c, job))
    report(c, job, 2000, 50)
    c.wait(lambda: word(c, job, "samples") == "2000", 15, "samples=2000")
    check(len(segment(c, job)) <= 256, "at most 256 bytes", segment(c, job))

    def facts():
        """The words of the annotation that do not change with time."""
        return {key: word(c, job, key) for key in ("job-type", "gpu-type", "gpus", "sizes",
                                                   "samples", "rate")}
    before = facts()
    c.restart_ctld()
    check(facts() == before, f"{before} after the restart", segment(c, job))
    steps.published_again(c)    # rounds of the new slurmctld, which has its memory from the state file
    check(word(c, job, "samples") == "2000", "samples=2000 still", segment(c, job))
    c.cmd(f"scancel {job}")
    c.wait_state(job, "CANCELLED", 15)
    check(word(c, job, "samples") == "2000", "the last segment to stay", segment(c, job))


def leave_nothing(c):
    """Negative control: observe behaves like place: nothing is removed."""
    write = c.write_rubato_conf
    steps.replace(c, "write_rubato_conf", lambda text, reconfigure=True: write(
        text.replace("Mode=observe", "Mode=place"), reconfigure))


@scenario(cluster="remember", needs=["rubato"], negative=leave_nothing)
def segments_of_waiting_jobs_go_with_place(c):
    """After Mode=observe no waiting job has a segment; a running one keeps what is true of it"""
    running = typed_job(c)
    waiting = c.sbatch(f"-w n1 --gpus=a100:4 -t 60 --comment='{HINTS.format(c.fresh_name())}'",
                       "sleep 1")
    c.wait(lambda: word(c, waiting, "wait"), 15, "a waiting job to say why it waits")
    c.cmd(f"squeue -j {running},{waiting} -O JobID,State,system_comment:140")
    check(word(c, waiting, "gpus") == "4", "gpus=4, as it asks", segment(c, waiting))
    c.write_rubato_conf(CONF.replace("Mode=place", "Mode=observe"))
    c.wait(lambda: not segment(c, waiting), 6, "the waiting job's segment to go")
    check(segment(c, running), "the running job's segment to stay")


# -- environment -----------------------------------------------------------------------------------


@scenario(cluster="remember", needs=["rubato"], negative="job-env", timeout=120)
def batch_job_hears_of_its_start(c):
    """A batch job that asked for no type finds type, GPUs, batch and plan in its environment

    The values are those of the start at hand: after a requeue they are replaced, not added. srun
    in the job and salloc have them too.
    """
    script = "env | grep ^RUBATO_ | sort; srun -n1 printenv RUBATO_GPU_TYPE; sleep 600"
    job = c.sbatch("-w n8 --gpus=1 -t 60 --requeue "
                   "--comment='rubato:job-type=bert;batch=256;model=params=25e6;plans=zero'", script)
    c.wait_state(job, "RUNNING", 15)
    held = list(c.gpus(job).values())[0]
    kind = list(held)[0]
    c.wait(lambda: f"\n{kind}\n" in c.output(job), 6, "the job's output")
    c.say(*c.output(job).splitlines())
    wanted = {"RUBATO_JOB_TYPE": "bert", "RUBATO_GPUS": "1", "RUBATO_GPU_TYPE": kind,
              "RUBATO_BATCH": "256", "RUBATO_PLAN": "zero", "RUBATO_RESIZE_COUNT": "0"}
    for name, value in wanted.items():
        check(f"{name}={value}\n" in c.output(job), f"{name}={value}", c.output(job))
    check("RESTART_REASON" not in c.output(job), "no reason of a restart", c.output(job))
    os.unlink(c.path("out", f"slurm-{job}.out"))
    c.cmd(f"scontrol requeue {job}")
    # Not StartTime=now: slurmd refuses a start before cred_expire has passed as a replay.
    c.wait(lambda: "RUBATO_RESTART_REASON=requeue\n" in c.output(job), 60,
           "the second run to hear of the requeue")
    c.say(*c.output(job).splitlines())
    names = re.findall(r"^(RUBATO_\w+)=", c.output(job), re.MULTILINE)
    check(len(names) == len(set(names)), "each name once", names)
    c.cmd(f"scancel {job}")
    answer = c.cmd("salloc -w n1 --gpus=a100:2 -t 5 srun -n1 printenv RUBATO_GPUS RUBATO_GPU_TYPE")
    check("\n2\na100" in "\n" + answer, "2 and a100 in salloc's srun", answer)


# -- PrivateData -----------------------------------------------------------------------------------


def readable(c, path, user):
    """The content of a file that `user` can read, "" if none."""
    answer = c.ask(f"cat {path}", user=user, check=False)
    return str(answer) if answer.rc == 0 else ""


@scenario(cluster="remember", needs=["rubato", "root", "second-user"], negative="private-data",
          timeout=120)
def private_data_hides_jobs_of_others(c):
    """With PrivateData=jobs the files for everybody hold no job; the whole ones are the owner's

    Two users: the second sees neither the first one's job with squeue nor in the published files,
    and cannot open the private ones. Switching it on replaces what was there at once.
    """
    from cluster import second_user
    other = second_user()
    public, private = c.path("out/publish"), c.path("state/rubato/private")
    c.defer(f"rm -rf {public}")
    c.write_rubato_conf(CONF + f"PublishDir={public}\n")
    kind = c.fresh_name("moonshot")
    job = typed_job(c, kind)
    report(c, job, 40, 50)
    names = ("snapshot.json", "plan.json", "models.json", "stats.json")
    c.wait(lambda: kind in readable(c, f"{public}/models.json", other), 15,
           "the second user to read of the job type before PrivateData")
    c.wait(lambda: f'"id":{job},' in readable(c, f"{public}/snapshot.json", other), 5,
           "and of the job")
    check(not os.path.exists(private + "/snapshot.json"), "no private files without need")

    c.change(options={"PrivateData": "jobs"}, restart=False)
    check(c.cmd(f"squeue -h -j {job} -o %i", user=other, check=False).find(str(job)) < 0,
          "squeue to hide the job from the second user")

    def hidden():
        texts = [readable(c, f"{public}/{name}", other) for name in names]
        return all(texts) and not any(kind in text or f'"id":{job},' in text
                                      for text in texts)
    c.wait(hidden, 5, "the published files to forget the job")
    c.cmd(f"ls -l {public}; ls -ld {private}; ls -l {private}")
    c.cmd(f"cat {public}/snapshot.json | head -c 200", user=other)
    c.wait(lambda: all(os.path.exists(f"{private}/{name}") for name in names), 5,
           "the whole files beside them")
    for name in names:
        check(not readable(c, f"{private}/{name}", other), f"{name} to be closed to the second user")
    check(f'"id":{job},' in pathlib.Path(private, "snapshot.json").read_text(),
          "root to read of the job in the private file")
    c.change(options={"PrivateData": None}, restart=False)
    c.wait(lambda: kind in readable(c, f"{public}/models.json", other), 15,
           "everything back without PrivateData")
    c.wait(lambda: not os.path.exists(private + "/snapshot.json"), 5, "the private files to go")
