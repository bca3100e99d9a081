# SPDX-License-Identifier: GPL-2.0-or-later
"""Hints of jobs: checked and recorded at submit, checked again at an update, kept by the job."""
import json
import pathlib
import re
import shlex

from cluster import Failed, check, scenario, second_user

from . import steps

#: Made by `make hints-docs` from the table that also makes the one of rubato-hints(7).
WRONG = json.loads(pathlib.Path(__file__).with_name("wrong_hints.json").read_text())
REFUSED = "Invalid argument"


def snapshot_job(c, job):
    """The job in the last published snapshot; {} if it is missing."""
    try:
        text = pathlib.Path(c.path("state/rubato/publish/snapshot.json")).read_text()
        jobs = json.loads(text).get("jobs", [])
    except (OSError, ValueError):
        return {}
    return next((one for one in jobs if one["id"] == job), {})


def wait_hints(c, job, wanted, timeout=40):
    """Waits until the loop has these hints of the job: members of Job::hints, None for absent."""
    def found():
        seen = snapshot_job(c, job)
        hints = seen.get("hints", {})
        return seen and not seen.get("hint_error") and all(
            hints.get(name) == value for name, value in wanted.items())
    try:
        c.wait(found, timeout, f"the snapshot to have {wanted} of job {job}")
    except Failed as error:
        raise Failed(f"{error}; it has {snapshot_job(c, job).get('hints')}") from None
    c.say(f"    snapshot.json: job {job}: hints {json.dumps(snapshot_job(c, job)['hints'])}")


def comment_of(c, job):
    """The comment as printed by `scontrol show job`."""
    found = re.search(r"^ *Comment=(.*?) *$", c.ask(f"scontrol show job {job}"), re.MULTILINE)
    return found[1] if found else ""


def newest_job(c):
    return max((int(job) for job in re.findall(r"\d+", c.ask("squeue -h -t all -o %A"))),
               default=0)


@scenario(needs=["rubato"], negative="hints-read")
def good_hints_are_recorded(c):
    """Hints of a comment reach the loop with the defaults filled in; the comment stays as it is"""
    job = c.sbatch("--hold --gpus=4 -t 5 --comment='night run 7 rubato: gpus=1,2,4-8; "
                   "job-type=resnet50; batch=256-1024; checkpoint=B:USR1@30; resize=restart'")
    shown = comment_of(c, job)
    c.say("    Comment=" + shown)
    check(shown == "night run 7 rubato: gpus=1,2,4-8; job-type=resnet50; batch=256-1024; "
          "checkpoint=B:USR1@30; resize=restart", "the comment byte for byte", shown)
    wait_hints(c, job, {"sizes": "1,2,4-8", "job_type": "resnet50", "batch": "256-1024",
                        "checkpoint": "B:USR1@30", "resize": "restart", "request_gpus": 4})
    plain = c.sbatch("--hold --gpus=4 -t 5 --comment='no hints: gpus=1'")
    c.wait(lambda: snapshot_job(c, plain), 10, "the job without hints in the snapshot")
    check("hints" not in snapshot_job(c, plain), "no hints of a comment without rubato:")
    check(comment_of(c, plain) == "no hints: gpus=1", "its comment untouched")


def submission(wrong):
    """The command line of a row of the table, and its stdin."""
    comment = "--comment=" + shlex.quote(wrong["comment"])
    options = wrong["options"]
    if not re.search(r"(^| )-t ", options):
        options += " -t 5"
    if wrong["program"] == "salloc":
        return f"salloc -J scenario {options} {comment} true"
    if wrong["het"]:
        return f"sbatch -J scenario {options} {comment} : --gpus=1 <<< '#!/bin/sh'"
    return f"sbatch -J scenario {options} {comment} --wrap true"


@scenario(needs=["rubato"], negative="hints", timeout=120)
def every_wrong_hint_is_refused(c):
    """Each wrong hint of rubato-hints(7) is refused with its words, and nothing is submitted"""
    before = newest_job(c)
    seen = set()
    for wrong in WRONG:
        command = submission(wrong)
        answer = c.cmd(command, check=False)
        check(answer.rc != 0, f"`{command}` to be refused", answer)
        for line in wrong["error"].splitlines():
            prefix = "0: " if wrong["het"] else ""     # Slurm's number of the component
            check(f"{wrong['program']}: error: {prefix}{line}" in answer,
                  f"the words `{line}`", answer)
        check(REFUSED in answer, f"Slurm's own words `{REFUSED}`", answer)
        seen.add(wrong["rule"])
    check(len(seen) > 20, "every rule of the table to be tried", seen)
    own = c.ask(f"squeue -h -t all -n scenario -o %A | awk '$1 > {before}'")
    check(own.strip() == "", "no job to have been submitted", own)
    again = c.cmd("sbatch -J scenario --gpus=2 -t 5 --comment='rubato!report samples=1' "
                  "--wrap true", check=False)
    check(again.rc != 0 and "rubato! starts a message of a running job" in again,
          "a message to be no comment of a submission", again)


@scenario(needs=["rubato"], negative="hints")
def slips_get_a_line(c):
    """sbatch accepts the job and says what its owner probably did not mean

    Text that looks like hints, and a signal that the batch script would never get.
    """
    said = c.cmd("sbatch --parsable -t 1 --comment='Rubato: job-type=x' --wrap true 2>&1")
    check("write rubato:job-type=x" in said, "the comment that Rubato reads", said)
    said = c.cmd("sbatch --parsable --requeue -t 5 --gpus=1 --comment='rubato:checkpoint=USR1' "
                 "--wrap 'sleep 1' 2>&1")
    check("checkpoint=B:USR1" in said, "the signal that the script gets", said)


@scenario(needs=["rubato"], negative="hints")
def strong_hints_go_before_weak_ones(c):
    """Environment before comment before JobType= line, each hint alone; the comment records it"""
    c.write_rubato_conf(steps.conf("JobType=bert Batch=64 Gpus=1-8 Resize=restart "
                                   "Checkpoint=USR1@20 Plans=dp"))
    # Without the SPANK plugin the variable is read from the job's own environment.
    job = int(re.search(r"job (\d+)", c.cmd(
        "RUBATO_DL_BATCH=512 RUBATO_DL_SAMPLES=1e6 sbatch -J scenario --hold --gpus=4 -t 5 "
        "--comment='site rubato:batch=256;gpus=2,4;job-type=bert;no-plans' --wrap true"))[1])
    shown = comment_of(c, job)
    c.say("    Comment=" + shown)
    check(shown == "site rubato:job-type=bert;gpus=2,4;batch=512;samples=1e6;no-plans",
          "the merged hints behind the site's text, in the order of the table", shown)
    wait_hints(c, job, {"job_type": "bert", "sizes": "2,4", "batch": "512", "samples": "1e6",
                        "checkpoint": "USR1@20", "resize": "restart", "plans": None})
    c.write_rubato_conf(steps.conf("JobType=bert Checkpoint=TERM@9"))
    wait_hints(c, job, {"batch": "512", "checkpoint": "TERM@9", "resize": None})
    long = "x" * 1015
    answer = c.cmd(f"RUBATO_DL_BATCH=512 sbatch -J scenario --gpus=4 -t 5 --comment={long} "
                   "--wrap true | cut -c1-200", check=False)
    check("1032 characters with the hints, Slurm allows 1024; shorten" in answer,
          "a comment that grows too long to be refused in words", answer)


@scenario(cluster="spank", needs=["rubato", "spank"], negative="hints")
def options_go_before_the_environment(c):
    """--dl-* options of sbatch go before variables and comment; a no- twin takes a hint back"""
    job = int(re.search(r"job (\d+)", c.cmd(
        "RUBATO_DL_BATCH=512 RUBATO_DL_GPUS=1-8 sbatch -J scenario --hold --gpus=4 -t 5 "
        "--dl-gpus=2-4 --no-dl-resize --comment='rubato:gpus=4-8;resize=restart;"
        "checkpoint=USR1' --wrap true"))[1])
    shown = comment_of(c, job)
    check(shown == "rubato:gpus=2-4;batch=512;checkpoint=USR1@60;no-resize",
          "option before environment before comment", shown)
    wait_hints(c, job, {"sizes": "2-4", "batch": "512", "checkpoint": "USR1@60", "resize": None})


@scenario(needs=["rubato"], negative="hints-update")
def update_of_a_pending_job_is_checked(c):
    """An update that would make a hint wrong is refused and changes nothing; others pass"""
    hints = "site rubato:gpus=2,4;checkpoint=USR1@60"
    job = c.sbatch(f"--hold --requeue --gpus=4 -t 5 --comment='{hints}'")
    before = c.job(job)
    mark = c.log_mark()
    for update, words in (
            ("Comment='site rubato:gpus=2,8'", "the request is for 4 GPUs, which is not one of"),
            ("Comment='rubato:gpu=2'", "gpu: unknown hint; did you mean gpus"),
            ("TresPerJob=gres:gpu:3", "the request is for 3 GPUs, which is not one of 2,4"),
            ("TimeLimit=1", "60 seconds is not less than the time limit, 00:01:00"),
            ("Requeue=0", "an interrupted job is requeued, but the request does not allow it"),
            ("NumTasks=3", "3 tasks on 4 GPUs scale with the GPUs, and their number must be whole")):
        answer = c.cmd(f"scontrol update JobId={job} {update}", check=False)
        check(answer.rc != 0 and REFUSED in answer, f"`{update}` to be refused", answer)
        c.wait(lambda: c.log_has(re.escape(words), mark), 5, f"the log to say `{words}`")
    after = c.job(job)
    for name in ("Comment", "TresPerJob", "TimeLimit", "Requeue", "NumTasks", "Partition"):
        check(before.get(name) == after.get(name), f"{name} unchanged",
              (before.get(name), after.get(name)))
    c.cmd(f"scontrol update JobId={job} TresPerJob=gres:gpu:2 TimeLimit=9")
    # Not Nice: of a held job that makes a priority of 2 (job_mgr.c, _update_job), and after the next
    # restart of slurmctld every new job has less.
    c.cmd(f"scontrol update JobId={job} TimeLimit=4")
    c.cmd(f"scontrol update JobId={job} Comment='site rubato:gpus=1,2'")
    wait_hints(c, job, {"sizes": "1,2", "request_gpus": 2})
    c.cmd(f"scontrol update JobId={job} Comment='no more'")
    c.wait(lambda: "hints" not in snapshot_job(c, job), 10, "the hints to be gone")


@scenario(needs=["rubato"], negative="hints-update")
def update_of_an_array_is_checked_a_task(c):
    """Updates of tasks of an array (12_3, 12_[1-2], all) are checked like those of a job"""
    job = c.sbatch("--hold --array=1-4 --gpus=2 -t 5 --comment='rubato:gpus=1,2'")
    for name in (f"{job}_3", f"{job}_[1-2]", f"{job}"):
        answer = c.cmd(f"scontrol update JobId='{name}' TresPerJob=gres:gpu:4", check=False)
        check(answer.rc != 0 and REFUSED in answer, f"{name} to be refused", answer)
    c.cmd(f"scontrol update JobId={job}_3 TresPerJob=gres:gpu:1")
    c.cmd(f"scontrol update JobId='{job}_[1-2]' Comment='rubato:gpus=1-8'")
    shown = c.cmd(f"squeue -h -r -j {job} -o '%i %k' | sort")
    check(f"{job}_1 rubato:gpus=1-8" in shown and f"{job}_4 rubato:gpus=1,2" in shown,
          "the tasks that were named to have the new comment", shown)


def comments_get_lost(c):
    """Negative control: before slurmctld is restarted the comment is taken away."""
    restart = c.restart_ctld

    def lose_and_restart():
        for job in re.findall(r"\d+", c.ask("squeue -h -n scenario -o %A")):
            c.ask(f"scontrol update JobId={job} Comment=gone")
        restart()
    c.restart_ctld = lose_and_restart
    c.defer(lambda: c.__dict__.pop("restart_ctld", None))


@scenario(needs=["rubato"], negative=comments_get_lost, timeout=90)
def hints_survive_restart_and_kill(c):
    """Hints are the job's own: they are there after a restart of slurmctld and after kill -9"""
    kind = c.fresh_name("resnet50")
    job = c.sbatch(f"--hold --gpus=4 -t 5 --comment='site rubato:gpus=2,4;job-type={kind}'")
    wanted = {"sizes": "2,4", "job_type": kind}
    wait_hints(c, job, wanted)
    steps.is_saved(c, wanted["job_type"])
    c.restart_ctld()
    wait_hints(c, job, wanted, 8)
    c.kill9_ctld()
    c.start_ctld()
    check(comment_of(c, job) == f"site rubato:gpus=2,4;job-type={kind}", "the comment",
          comment_of(c, job))
    wait_hints(c, job, wanted, 20)


@scenario(needs=["rubato"], negative="hints-read")
def wrong_hints_of_old_comments_are_told(c):
    """A comment that was written while nobody checked it is told, and never stops the job"""
    c.use_plugins("stock")
    job = c.sbatch("--hold --gpus=2 -t 5 --comment='rubato:gpus=3;batch=x'", "sleep 900")
    c.use_plugins("rubato")
    c.cmd(f"scontrol release {job}")
    c.wait_state(job, "RUNNING", 15)
    c.wait(lambda: snapshot_job(c, job).get("hint_error"), 10, "the error in the snapshot")
    seen = snapshot_job(c, job)
    c.say(f"    snapshot.json: job {job}: hint_error {json.dumps(seen['hint_error'])}")
    check("batch: \"x\" is not a whole number" in seen["hint_error"] and "hints" not in seen,
          "the words and no hints", seen)


@scenario(needs=["rubato", "second-user"], negative="hints-update")
def two_users_and_their_hints(c):
    """Each user's hints are his: another can neither change them nor learn what is wrong there"""
    other = second_user()
    mine = c.sbatch("--hold --gpus=4 -t 5 --comment='rubato:gpus=2,4'")
    theirs = c.sbatch("--hold --gpus=2 -t 5 --comment='rubato:gpus=1,2'", user=other)
    answer = c.cmd(f"scontrol update JobId={mine} Comment='rubato:gpus=9'", user=other,
                   check=False)
    check(answer.rc != 0 and "Access/permission denied" in answer or "Invalid user id" in answer,
          "Slurm's own refusal, without a word about hints", answer)
    refused = c.cmd(f"scontrol update JobId={theirs} Comment='rubato:gpus=9'", user=other,
                    check=False)
    check(refused.rc != 0 and REFUSED in refused, "the owner's wrong update to be refused",
          refused)
    c.cmd(f"scontrol update JobId={theirs} Comment='rubato:gpus=1-4'", user=other)
    wait_hints(c, theirs, {"sizes": "1-4"})
    root = c.cmd(f"scontrol update JobId={theirs} Comment='rubato:gpus=9'", check=False)
    check(root.rc != 0 and REFUSED in root, "an admin's wrong update to be refused too", root)
    c.cmd(f"scontrol update JobId={theirs} Comment='rubato:gpus=2-8'")
    wait_hints(c, theirs, {"sizes": "2-8"})
    check(comment_of(c, mine) == "rubato:gpus=2,4", "the first user's hints as they were")
