# SPDX-License-Identifier: GPL-2.0-or-later
"""Messages of running jobs: accepted senders, accepted and dropped messages, their cost."""
import json
import re

from cluster import Failed, check, scenario, second_user, shape

from . import steps
from .hints import comment_of

shape("jobs")

REPORT = "rubato!report samples={};rate=850.5;batch=256"


def mail(c):
    """The counters of messages, as last published."""
    return steps.stats(c).get("mail", {})


def running_job(c, user=None):
    """A running job of a type that no other has."""
    kind = c.fresh_name()
    job = c.sbatch(f"--gpus=1 -t 5 --comment='mine rubato:job-type={kind}'", "sleep 300", user=user)
    c.wait_state(job, "RUNNING", 15)
    return job


def say(c, job, text, user=None, rc=0, words=""):
    """Sends a message of `job` and checks scontrol's answer."""
    answer = c.cmd(f"scontrol update JobId='{job}' Comment='{text}'", user=user, check=False)
    check((answer.rc == 0) == (rc == 0) and words in answer,
          f"`{text[:60]}` to be {'taken' if rc == 0 else 'refused'} {words}", answer)
    return answer


def wait_mail(c, before, **more):
    """Waits until the counters have grown by exactly `more`."""
    def grown():
        now = mail(c)
        return now and all(now[name] - before.get(name, 0) == count
                           for name, count in more.items())
    try:
        c.wait(grown, 10, f"the counters to grow by {more}")
    except Failed as error:
        raise Failed(f"{error}; before {before}, now {mail(c)}") from None
    c.say(f"    stats.json: mail {json.dumps(mail(c))}")


def mail_now(c):
    """The counters when no message is in transit."""
    c.wait(lambda: mail(c), 10, "counters of messages")
    steps.published_again(c)
    return mail(c)


@scenario(cluster="jobs", needs=["rubato"], negative="messages")
def messages_are_heard_and_swallowed(c):
    """A report and an ack succeed, reach the loop, and leave the job's comment what it was"""
    job = running_job(c)
    comment = comment_of(c, job)
    before = mail_now(c)
    say(c, job, REPORT.format("1e6"))
    say(c, job, "rubato!ack notice=1;state=ready")
    check(comment_of(c, job) == comment, "the comment as it was", comment_of(c, job))
    wait_mail(c, before, taken=2, malformed=0, waiting=0)
    array = c.sbatch("--array=1-2 --gpus=1 -t 5", "sleep 300")
    c.wait(lambda: len(c.ask(f"squeue -h -r -j {array} -t R -o %i").split()) == 2, 15, "two tasks")
    before = mail_now(c)
    say(c, f"{array}_1", REPORT.format(10))
    say(c, f"{array}_2", REPORT.format(20))
    say(c, f"{array}_[1-2]", REPORT.format(30), rc=1, words="Bad message")
    wait_mail(c, before, taken=2, malformed=2)
    # SLURM_JOB_ID of the last task is the number of the array: it refers to that task only.
    before = mail_now(c)
    say(c, array, "rubato!ack notice=3")
    wait_mail(c, before, taken=1, malformed=0)


@scenario(cluster="jobs", needs=["rubato"], negative="messages")
def malformed_messages_are_refused(c):
    """What is no message fails its update with Slurm's nearest words; the log has all of them"""
    job = running_job(c)
    comment = comment_of(c, job)
    before = mail_now(c)
    mark = c.log_mark()
    for text, words, logged in (
            ("rubato!report smples=1;rate=1;batch=1", "Bad message", "did you mean samples"),
            ("rubato!report samples=1;rate=inf;batch=1", "Bad message", "rate:"),
            ("rubato!rapport samples=1", "Bad message", "did you mean report"),
            ("rubato!", "Bad message", "refused update of"),
            ("rubato!resize gpus=0", "Bad message", "gpus:"),
            ("rubato!hold-size seconds=0", "Bad message", "seconds:"),
            ("rubato!report samples=1;rate=1;batch=1;" + " " * 1000, "Message too long",
             "bytes; the maximum is 1024")):
        say(c, job, text, rc=1, words=words)
        check(c.log_has(re.escape(logged), mark), f"the log to say `{logged}`")
    check(comment_of(c, job) == comment, "the comment as it was", comment_of(c, job))
    wait_mail(c, before, taken=0, malformed=7, mode=0)
    waiting = c.sbatch("--hold --gpus=1 -t 5")
    say(c, waiting, REPORT.format(5), rc=1, words="Job is not running")
    wait_mail(c, before, taken=0, not_running=1)


@scenario(cluster="jobs", needs=["rubato"], negative="message-rate")
def reports_too_soon_are_dropped_in_silence(c):
    """Of a job's reports one a MessageInterval is taken; the others succeed and are dropped"""
    c.write_rubato_conf(steps.conf("MessageInterval=3000"))
    first, second = running_job(c), running_job(c)
    before = mail_now(c)
    for count in range(4):
        say(c, first, REPORT.format(100 + count))
    say(c, second, REPORT.format(7))
    wait_mail(c, before, taken=2, too_soon=3)
    for count in range(5):
        say(c, first, f"rubato!ack notice={count}")
    wait_mail(c, before, taken=7, too_soon=3)
    c.write_rubato_conf(steps.conf("MessageInterval=2"))
    taken, too_soon = 8, 3
    if c.reconfigure_is_a_new_process():
        before, taken, too_soon = mail_now(c), 1, 0
    c.cmd("sleep 2")
    say(c, first, REPORT.format(200))
    wait_mail(c, before, taken=taken, too_soon=too_soon)


def slurm_hears_the_owner_alone(c):
    """Since 23.11 Slurm itself refuses updates of other users; 22.05 leaves that to the plugin."""
    return c.site.version >= (23, 11)


def every_user_is_heard(c):
    """Negative control: Rubato hears every user. Where Slurm refuses them, the other user's message is root's."""
    c.test_switch = "TestOff=message-uid"
    c.write_rubato_conf(c.shape.rubato_conf)
    if slurm_hears_the_owner_alone(c):
        steps.replace(c, "intruder", None)


@scenario(cluster="jobs", needs=["rubato", "second-user"], negative=every_user_is_heard)
def only_the_owner_and_root_are_heard(c):
    """Owner and root are heard, another user is not, whether Slurm or the plugin refuses"""
    other = second_user()
    refused_by_slurm = slurm_hears_the_owner_alone(c)
    mine = running_job(c)
    theirs = running_job(c, user=other)
    comment = comment_of(c, mine)
    before = mail_now(c)
    words = "Invalid user id" if refused_by_slurm else "Access/permission denied"
    say(c, mine, "rubato!ack notice=1", user=getattr(c, "intruder", other), rc=1, words=words)
    say(c, theirs, "rubato!ack notice=1", user=other)
    say(c, theirs, "rubato!ack notice=2")
    wait_mail(c, before, taken=2, foreign=0 if refused_by_slurm else 1)
    check(comment_of(c, mine) == comment, "the comment as it was", comment_of(c, mine))


@scenario(cluster="jobs", needs=["rubato"], negative="messages", timeout=180)
def a_flood_of_messages_does_no_harm(c):
    """1,000 reports of one job: all succeed, one is taken, clients are answered meanwhile"""
    c.write_rubato_conf(steps.conf("MessageInterval=3000"))
    job = running_job(c)
    comment = comment_of(c, job)
    before = mail_now(c)
    c.ask("sdiag --reset")
    c.say(f"$ 1,000 times: scontrol update JobId={job} Comment='{REPORT.format(1000)}'")
    sender = c.popen(f"seq 1000 | xargs -P 4 -I@ scontrol update JobId={job} "
                     f"Comment='{REPORT.format(1000)}'")
    answers = []
    while sender.poll() is None:
        answers.append(c.ask("squeue -h | wc -l").seconds)
    check(sender.returncode == 0, "scontrol to end well", sender.returncode)
    figures = re.search(r"REQUEST_UPDATE_JOB\s+\( *\d+\) count:(\d+)\s+ave_time:(\d+)\s+"
                        r"total_time:(\d+)", c.ask("sdiag"))
    check(figures, "sdiag to have counted the updates")
    c.say(f"    sdiag: {figures[1]} updates, {int(figures[2])} us each; squeue beside them: "
          f"{len(answers)} answers, longest {max(answers):.3f} s")
    check(int(figures[1]) >= 1000, "1,000 updates to have been answered", figures[0])
    check(answers, "squeue to be answered meanwhile", answers)
    wait_mail(c, before, taken=1, too_soon=999, full=0)
    check(comment_of(c, job) == comment, "the comment as it was", comment_of(c, job))
