# SPDX-License-Identifier: GPL-2.0-or-later
"""Reports through $RUBATO_REPORT_FILE, and training jobs that use it."""
import pathlib
import re

from cluster import check, scenario
from cluster.proc import alive, all_pids, read_proc

from . import removed, spank, steps

TRAINER = pathlib.Path(__file__).resolve().parents[3] / "contrib/trainer/rubato-trainer"
LINE = "report samples={0};rate={1};batch=32"


def taken(c):
    return steps.stats(c).get("mail", {}).get("taken", 0)


def forwarders(c, job):
    """Live processes that forward reports of a job of this cluster."""
    return [pid for pid in all_pids() if alive(pid)
            and "rubato_forwarder" in read_proc(pid, "cmdline")
            and c.path("run/report", str(job), "report") in read_proc(pid, "cmdline")]


def segment(c, job):
    return c.job(job).get("SystemComment", "")


@scenario(cluster="spank", needs=["rubato", "spank"], negative="messages")
def report_file_becomes_a_message(c):
    """A job without scontrol writes a line into $RUBATO_REPORT_FILE: Rubato hears and shows it"""
    job = c.sbatch("--gpus=a100:1 -t 5 --dl-job-type=filed",
                   f"PATH=/nonexistent\necho '{LINE.format(6400, 50)}' >> $RUBATO_REPORT_FILE\n"
                   "/bin/ls -ln $RUBATO_REPORT_FILE\nexec /bin/sleep 900")
    c.wait_state(job, "RUNNING", 15)
    comment = c.job(job)["Comment"]
    c.wait(lambda: "samples=6400" in segment(c, job), 15, "the report in SystemComment")
    c.cmd(f"scontrol show job {job} | grep Comment")
    check("rate=50" in segment(c, job), "its rate", segment(c, job))
    check(c.job(job)["Comment"] == comment, f"the comment {comment} untouched",
          c.job(job)["Comment"])
    check(len(forwarders(c, job)) == 1, "one forwarder for the job", forwarders(c, job))
    c.cmd(f"scancel {job}")
    c.wait_state(job, "CANCELLED", 15)
    c.wait(lambda: not forwarders(c, job), 5, "the forwarder to end with the job")
    c.wait(lambda: not pathlib.Path(c.path("run/report", str(job))).exists(), 5,
           "the file to be gone")
    plain = c.sbatch("-n1 -t 5", "echo file=$RUBATO_REPORT_FILE; exec sleep 900")
    c.wait(lambda: "file=" in c.output(plain), 10, "a CPU job to run")
    check("file=/dev/null" in c.output(plain) and not forwarders(c, plain),
          "no file of its own and no process for a job without hints", c.output(plain))
    c.cmd(f"scancel {plain}")


def without_files(c):
    """Negative control: jobs get /dev/null."""
    removed.set_plugstack(c, " hints=ignore")
    c.defer(c.write_conf)


@scenario(cluster="spank", needs=["rubato", "spank"], negative=without_files)
def a_line_that_is_no_report_is_named(c):
    """A job misspells a key in $RUBATO_REPORT_FILE: its output says so when the script ends"""
    job = c.sbatch("--gpus=a100:1 -t 5 --dl-job-type=filed",
                   "echo 'report smples=1;rate=1;batch=1' >> $RUBATO_REPORT_FILE; echo written")
    good = c.sbatch("--gpus=a100:1 -t 5 --dl-job-type=filed",
                    f"echo '{LINE.format(6400, 50)}' >> $RUBATO_REPORT_FILE; echo written")
    words = "the last line of $RUBATO_REPORT_FILE is not a report"
    c.wait(lambda: words in c.output(job), 30, f"`{words}` in the output of the job")
    c.say(*c.output(job).splitlines())
    check("did you mean samples" in c.output(job), "the nearest key", c.output(job))
    c.wait_state(good, "COMPLETED", 30)
    check(words not in c.output(good), "no such line of a job with a good report", c.output(good))


@scenario(cluster="spank", needs=["rubato", "spank"], negative=spank.no_plugstack)
def report_file_survives_its_writer(c):
    """Junk, no newline, a terabyte, truncation and eight writers at once: the job goes on, and the
    next good line arrives"""
    job = c.sbatch("--gpus=a100:1 -t 5 --dl-job-type=junk", "\n".join((
        "f=$RUBATO_REPORT_FILE; test -f $f || exit 1",
        "head -c 100000 /dev/urandom >> $f; sleep 1.2",
        "head -c 100000 /dev/zero | tr '\\0' x >> $f; sleep 1.2",
        "truncate -s 1T $f; sleep 1.2",
        ": > $f; printf 'report samples=1;rate=1' >> $f; sleep 1.2",
        "rm -f $f; mkfifo $f 2> /dev/null; ln -sf /etc/passwd $f 2> /dev/null",
        "rm -f $f 2> /dev/null; : >> $f; : > $f",
        "for rank in 1 2 3 4 5 6 7 8; do (for i in $(seq 100); do "
        f"echo '{LINE.format(3200, 25)}' >> $f; done) & done; wait",
        "echo written; sleep 900")))
    c.wait(lambda: "written" in c.output(job), 30, "the job to have written all of it")
    c.wait(lambda: "samples=3200" in segment(c, job), 15, "the report in SystemComment")
    check(c.job(job)["JobState"] == "RUNNING", "the job to go on", c.job(job)["JobState"])
    c.cmd(f"scancel {job}")
    c.wait_state(job, "CANCELLED", 15)
    c.wait(lambda: not forwarders(c, job), 5, "no process of it to be left")


@scenario(cluster="spank", needs=["rubato", "spank", "second-user"], negative=spank.no_plugstack)
def report_is_sent_as_the_owner(c):
    """The job of a second user reports: forwarder, file and message are that user's"""
    from cluster import second_user
    user = second_user()
    job = c.sbatch("--gpus=v100:1 -t 5 --dl-job-type=owned -o /dev/null",
                   f"echo '{LINE.format(960, 10)}' >> $RUBATO_REPORT_FILE; exec sleep 900",
                   user=user)
    c.wait(lambda: "samples=960" in segment(c, job), 15, "the report in SystemComment")
    found = forwarders(c, job)
    check(len(found) == 1, "one forwarder", found)
    status = read_proc(found[0], "status")
    uid = c.ask(f"id -u {user}")
    ids = re.search(r"^Uid:\s+(.*)$", status, re.MULTILINE)[1].split()
    check(ids[1:] == [str(uid)] * 3, f"its effective, saved and file system uid to be {uid}", ids)
    # Other processes of the user are readable so: the kernel asks what it asks before ptrace.
    own = c.popen("sleep 60", user=user)
    c.wait(lambda: c.cmd(f"cat /proc/{own.pid}/environ | wc -c", user=user, check=False) != "0", 10,
           "a process of the user that the user can trace")
    answer = c.cmd(f"cat /proc/{found[0]}/environ", user=user, check=False)
    check(answer.rc != 0 and "Permission denied" in answer, "the forwarder to be out of reach",
          answer)
    c.cmd(f"ls -ln {c.path('run/report', str(job))}")
    c.cmd(f"scancel {job}")
    c.wait(lambda: not forwarders(c, job), 10, "it to end with the job")


@scenario(cluster="spank", needs=["rubato", "spank"], negative="messages", timeout=90)
def trainer_reports_saves_and_resumes(c):
    """A training job reports its speed, checkpoints on its signal, and goes on after a requeue"""
    job = c.sbatch("--gpus=a100:2 -t 10 --requeue --open-mode=append --dl-job-type=resnet50 "
                   "--dl-batch=512 --dl-samples=1e7 --dl-checkpoint=B:USR1@5",
                   f"export RUBATO_REPORT_INTERVAL=1\nexec {TRAINER} --samples 1e7")
    c.wait(lambda: "rate=" in segment(c, job), 20, "a report in SystemComment")
    c.cmd(f"scontrol show job {job} | grep SystemComment")
    rate = float(re.search(r"rate=([0-9.e+]+)", segment(c, job))[1])
    check(2500 < rate < 8000, "about the 4458.8 samples/s that the trainer says", rate)
    c.cmd(f"scancel --batch --signal=USR1 {job}")
    c.wait(lambda: "checkpoint at" in c.output(job), 10, "the checkpoint")
    c.cmd(f"scontrol requeue {job}")
    c.wait(lambda: "goes on at" in c.output(job), 60, "the second run")
    c.say(c.output(job))
    saved = int(re.search(r"checkpoint at (\d+)", c.output(job))[1])
    check(saved > 0 and f"restart 1, goes on at {saved} samples" in c.output(job),
          f"to resume at {saved}", c.output(job))
    before = max([saved, *map(int, re.findall(r"samples=(\d+)", segment(c, job)))])
    c.wait(lambda: int((re.findall(r"samples=(\d+)", segment(c, job)) or [0])[-1]) > before, 20,
           "its samples to go on rising")
    c.cmd(f"scancel {job}")
