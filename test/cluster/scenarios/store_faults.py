# SPDX-License-Identifier: GPL-2.0-or-later
"""The store fails, and slurmctld goes on scheduling: folders, disks, pages, kills."""
import contextlib
import fcntl
import os
import pathlib
import time

from cluster import Skip, check, scenario, shape

from . import remember, steps

shape("store-faults", rubato_conf=remember.CONF)

OFF = r"rubato: running without the store: "


def schedules(c):
    """Rubato starts a GPU job, and it ends: the loop works."""
    job = c.sbatch("-w n2 --gpus=a100:1 -t 5", "sleep 0.2")
    c.wait_state(job, "COMPLETED", 20)
    check(c.times(job).by == "rubato", "Rubato to start it", c.times(job).by)
    seen = steps.stats(c)
    check(seen.get("rounds_failed") == 0, "no failed round", seen.get("rounds_failed"))


def said_once(c, mark, words):
    """The log says once why the store is off, not at every retry."""
    c.wait(lambda: c.log_has(OFF + words, mark), 6, f"`{OFF}{words}` in slurmctld.log")
    time.sleep(1)
    lines = c.log_lines(OFF, mark)
    c.say(*lines)
    check(len(lines) == 1, "one line", len(lines))


@contextlib.contextmanager
def store_in(c, folder):
    """Restarts slurmctld with another StoreDir, which is read at its start; returns a log position
    before it."""
    c.write_rubato_conf(remember.CONF + f"StoreDir={folder}\n", reconfigure=False)
    mark = c.log_mark()
    c.restart_ctld()
    try:
        yield mark
    finally:
        c.write_rubato_conf(remember.CONF, reconfigure=False)
        c.restart_ctld()


def store_dir_is_good(c):
    """Negative control: StoreDir is unchanged."""
    write = c.write_rubato_conf
    steps.replace(c, "write_rubato_conf", lambda text, reconfigure=True: write(
        "".join(line + "\n" for line in text.splitlines() if "StoreDir" not in line), reconfigure))


@scenario(cluster="store-faults", needs=["rubato"], negative=store_dir_is_good)
def missing_folder_stops_no_job(c):
    """StoreDir below a folder that is not there: one line in the log, and jobs start

    An admin sees why in slurmctld.log and in stats.json, and that reports still move the segment.
    """
    with store_in(c, c.path("out/nowhere/store")) as mark:
        said_once(c, mark, r".*nowhere")
        schedules(c)
        job = remember.typed_job(c)
        remember.report(c, job, 40, 50)
        c.wait(lambda: remember.word(c, job, "samples") == "40", 15, "samples=40 in SystemComment")
        seen = c.wait(lambda: remember.store_stats(c).get("state") == "off" and
                      remember.store_stats(c), 5, "stats.json to say off")
        c.say(f"stats.json: store state={seen['state']} trouble={seen['trouble']}")
        check("nowhere" in seen["trouble"], "the folder in the trouble", seen["trouble"])


@scenario(cluster="store-faults", needs=["rubato"], negative=store_dir_is_good)
def file_in_place_of_the_folder_stops_no_job(c):
    """StoreDir is a file: one line in the log, and jobs start"""
    pathlib.Path(c.path("out/store-file")).write_text("not a folder\n")
    c.defer(f"rm -f {c.path('out/store-file')}")
    with store_in(c, c.path("out/store-file")) as mark:
        said_once(c, mark, r".*store-file")
        schedules(c)


@contextlib.contextmanager
def mounted(c, name, options, size):
    """The folder of a small separate file system; Skip if none can be made."""
    folder = c.path("out", name)
    os.makedirs(folder, exist_ok=True)
    answer = c.ask(f"mount -t tmpfs -o {options}size={size} rubato-{name} {folder}", check=False)
    if answer.rc != 0:
        raise Skip(f"no file system can be mounted here: {answer}")
    try:
        yield folder
    finally:
        c.ask(f"umount -l {folder}", check=False)


@scenario(cluster="store-faults", needs=["rubato", "root"], negative=store_dir_is_good)
def read_only_folder_stops_no_job(c):
    """StoreDir on a file system that is mounted read-only: one line in the log, and jobs start"""
    with mounted(c, "readonly", "ro,", "1m") as folder, store_in(c, f"{folder}/store") as mark:
        said_once(c, mark, r".*Read-only file system")
        schedules(c)


@scenario(cluster="store-faults", needs=["rubato", "root"], negative=store_dir_is_good, timeout=120)
def full_disk_stops_no_job(c):
    """The disk of StoreDir fills up: one line, jobs start, and reports are written when it has room

    An admin sees why once; after room was made the store is open again, with the reports that came
    meanwhile.
    """
    with mounted(c, "full", "", "2m") as folder, store_in(c, f"{folder}/store") as mark:
        path = f"{folder}/store/rubato.db"
        job = remember.typed_job(c)
        remember.report(c, job, 40, 50)
        c.wait(lambda: remember.samples(c, job, path), 8, "the first report on the small disk")
        c.cmd(f"dd if=/dev/zero of={folder}/ballast bs=4k", check=False)
        for number in range(2, 6):
            remember.report(c, job, number * 40, 50)
            time.sleep(0.5)
        said_once(c, mark, r".*(full|No space)")
        schedules(c)
        os.unlink(f"{folder}/ballast")
        c.wait(lambda: c.log_has("the store is open again", mark), 25, "the store to be open again")
        found = c.wait(lambda: len(remember.samples(c, job, path)) == 5 and
                       remember.samples(c, job, path), 10, "all five reports")
        c.say(f"rubato.db: {found}")


def pages_are_good(c):
    """Negative control: the database is unchanged."""
    steps.replace(c, "spoil", lambda path: None)


def spoil(path):
    """Removes the journals of a database and overwrites its first pages."""
    for end in ("-wal", "-shm"):
        pathlib.Path(path + end).unlink(missing_ok=True)
    with open(path, "r+b") as file:
        file.write(os.urandom(16384))


@scenario(cluster="store-faults", needs=["rubato"], negative=pages_are_good, timeout=120)
def corrupt_database_is_set_aside(c):
    """Pages of rubato.db are overwritten while slurmctld is down: set aside, a new one made

    An admin finds the spoilt file beside the new one, and the line about it in slurmctld.log.
    """
    job = remember.typed_job(c)
    remember.report(c, job, 40, 50)
    c.wait(lambda: remember.samples(c, job), 10, "a report in rubato.db")
    c.stop_ctld()
    getattr(c, "spoil", spoil)(remember.database(c))
    mark = c.log_mark()
    c.start_ctld()
    c.wait(lambda: c.log_has(r"rubato: .*set aside as .*rubato\.db\.corrupt-", mark), 6,
           "the log to say what became of it")
    c.say(*c.log_lines(r"set aside", mark))
    c.cmd(f"ls -l {os.path.dirname(remember.database(c))}")
    schedules(c)
    remember.report(c, job, 90, 50)
    c.wait(lambda: [row for row in remember.samples(c, job) if row[0] == 90], 10,
           "a new report in the new database")
    for path in pathlib.Path(remember.database(c)).parent.glob("rubato.db.corrupt-*"):
        c.defer(f"rm -f {path}")


@scenario(cluster="store-faults", needs=["rubato"], negative="store", timeout=120)
def kill_9_loses_at_most_the_last_batch(c):
    """kill -9 while reports come: what was on the disk stays, and the run goes on from there

    An admin sees after the restart every report that was written before the kill, the progress in
    system_comment, and the next report behind them.
    """
    job = remember.typed_job(c)
    sent = []
    for number in range(1, 6):
        remember.report(c, job, number * 30, 50)
        sent.append(number * 30)
        time.sleep(0.7)
    c.wait(lambda: len(remember.samples(c, job)) >= 3, 6, "three reports on the disk")
    remember.report(c, job, 200, 50)
    since = time.time()
    c.wait(lambda: os.path.getmtime(c.path("state/job_state")) > since, 12,
           "slurmctld to save its jobs, which it does every 5 seconds")
    c.wait(lambda: 200 in [row[0] for row in remember.samples(c, job)], 10, "the sixth on the disk")
    remember.report(c, job, 230, 50)
    before = [row[0] for row in remember.samples(c, job)]
    c.say(f"on the disk before the kill: {before}")
    c.kill9_ctld()
    c.start_ctld()
    after = [row[0] for row in c.wait(lambda: remember.samples(c, job), 10, "the database")]
    c.say(f"after it: {after}")
    check(after[:len(before)] == before, f"all of {before}", after)
    lost = [done for done in sent + [200, 230] if done not in after]
    c.say(f"lost: {lost}")
    check(set(lost) <= {230}, "none to be lost but the last, sent just before the kill", lost)
    check(rows_are_sound(c), "an intact database")
    remember.report(c, job, 300, 50)
    c.wait(lambda: 300 in [row[0] for row in remember.samples(c, job)], 15, "the next report")


def rows_are_sound(c):
    return remember.rows(c, "PRAGMA integrity_check") == [("ok",)]


def nobody_holds_the_lock(c):
    """Negative control: no other process holds the lock."""
    steps.replace(c, "hold", lambda path: None)


def hold(path):
    """Holds the lock of a store like another slurmctld; returns the open file."""
    file = open(path, "a+", encoding="utf-8")   # noqa: SIM115  kept open by the caller
    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    return file


@scenario(cluster="store-faults", needs=["rubato"], negative=nobody_holds_the_lock, timeout=120)
def second_slurmctld_runs_without_a_store(c):
    """Another process holds store.lock: slurmctld runs without a store, says so, and takes it later

    An admin sees who holds it, jobs that start, and the store open again when the lock is free.
    """
    c.stop_ctld()
    held = getattr(c, "hold", hold)(os.path.join(os.path.dirname(remember.database(c)),
                                                 "store.lock"))
    mark = c.log_mark()
    try:
        c.start_ctld()
        said_once(c, mark, r".*store\.lock")
        schedules(c)
    finally:
        if held is not None:
            held.close()
    c.wait(lambda: c.log_has("the store is open again", mark), 25, "the store to be open again")


@scenario(cluster="store-faults", needs=["rubato"], negative="store", timeout=120)
def reconfigure_keeps_the_store(c):
    """20 times `scontrol reconfigure` between reports: each report is stored once"""
    job = remember.typed_job(c)
    for number in range(1, 5):
        remember.report(c, job, number * 20, 50)
        for _ in range(5):
            c.reconfigure()
    found = c.wait(lambda: len(remember.samples(c, job)) >= 4 and remember.samples(c, job), 6,
                   "four reports in rubato.db")
    check([row[0] for row in found] == [20, 40, 60, 80], "each once, in order", found)
    check(len(list(pathlib.Path(remember.database(c)).parent.glob("store.lock"))) == 1,
          "one lock file")
