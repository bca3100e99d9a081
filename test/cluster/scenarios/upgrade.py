# SPDX-License-Identifier: GPL-2.0-or-later
"""Files of other releases of Rubato, and Rubato taken out and put back while jobs change their size."""
import json
import os
import pathlib
import re
import sqlite3
import time

from cluster import check, scenario

from . import learn, remember, steps
from .grow import Grows
from .restart import HINTS, TRAINS, counts, steps_of
from .shrink import LONG, agrees, indices
from .sizes import asks_again, request, runs_with, total

# Each database was written once, when its schema was new.
KEPT = {int(re.search(r"\d+", path.name)[0]): path
        for path in (pathlib.Path(__file__).parents[2] / "store").glob("schema-*.db")}
NEWEST = max(KEPT)
TABLES = ("job_types", "samples", "fits", "jobs", "decisions", "runs")


# -- files of other releases -----------------------------------------------------------------------


def old_database(path, version, kind):
    """Makes a database of an earlier schema, by the SQL in the kept one, with reports of `kind` that
    say that v100 is the fastest GPU type, and one row in each other table."""
    with sqlite3.connect(f"file:{KEPT[version]}?mode=ro&immutable=1", uri=True) as kept:
        tables = [sql for sql, in kept.execute("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL")]
        marks = {name: kept.execute(f"PRAGMA {name}").fetchone()[0]
                 for name in ("application_id", "user_version")}
    check(marks["user_version"] == version, f"the kept database to have schema {version}", marks)
    now = int(time.time())
    base = sqlite3.connect(path)
    for sql in tables:
        base.execute(sql)
    base.execute("INSERT INTO job_types VALUES (1, '', ?, 0)", (kind,))
    for number, (gpu, (_, rate)) in enumerate(learn.PLACES.items()):
        for report in range(4):
            base.execute(
                "INSERT INTO samples (type, job_id, submit, restarts, time, run_start, gpu_type, gpus, "
                "nodes, plan, batch, samples_done, rate, flag) "
                "VALUES (1, ?, ?, 0, ?, ?, ?, 1, 1, '', 8, ?, ?, '')",
                (number + 1, now - 9000, now - 7200 + 60 * report, now - 8000, gpu,
                 rate * 60 * (report + 14), rate))
    base.execute("INSERT INTO fits VALUES (1, 'a100', 'step-time', '[0.5]', 4, 0.1, ?)", (now - 7000,))
    base.execute("INSERT INTO jobs VALUES (1, ?, 1, 'best-effort', 900.5, 1, 1000, 0, ?)",
                 (now - 9000, now - 7000))
    base.execute("INSERT INTO decisions VALUES (1, 1, ?, ?, 'start', '{}')", (now - 9000, now - 8000))
    if version > 1:
        base.execute("INSERT INTO runs VALUES (1, ?, ?, ?, ?, '{}')",
                     (now - 9000, now - 8000, now - 9000, now - 7000))
    for name, value in marks.items():
        base.execute(f"PRAGMA {name} = {value}")
    base.commit()
    base.close()


def content(path, version):
    """{table: rows}, of the columns that the kept database of that schema has."""
    found = {}
    with sqlite3.connect(f"file:{KEPT[version]}?mode=ro&immutable=1", uri=True) as kept:
        for table in TABLES:
            names = ", ".join(f'"{row[1]}"' for row in kept.execute(f"PRAGMA table_info({table})"))
            if names:
                found[table] = remember.rows(None, f"SELECT {names} FROM {table} ORDER BY 1, 2, 3", path)
    return found


def version_of(path):
    found = remember.rows(None, "PRAGMA user_version", path)
    return found[0][0] if found else None


def replace_files(c, version, kind, state):
    """While slurmctld is down: Rubato's folder has the files of another release only."""
    folder = pathlib.Path(c.path("state/rubato"))
    for path in [*folder.glob("rubato.db*"), *folder.glob("state.json*")]:
        path.unlink()
    old_database(str(folder / "rubato.db"), version, kind)
    (folder / "state.json").write_text(json.dumps(state), encoding="utf-8")


def memory_of(c):
    try:
        return json.loads(pathlib.Path(c.path("state/rubato/state.json")).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}


def files_are_new(c):
    """Negative control: the files of the earlier release are not there."""
    steps.replace(c, "replace_files", lambda *_: None)


@scenario(cluster="learn", needs=["rubato"], negative=files_are_new, timeout=240)
def files_of_earlier_releases_are_used(c):
    """Database and state of each earlier schema: upgraded, nothing lost, and their models decide

    A job waits meanwhile and keeps what Rubato remembers of it. The database of before stays beside
    the upgraded one. The state has parts that no release reads any more: they are left out.
    """
    busy = steps.occupy(c, "h100")
    waits = c.sbatch("--gpus=h100:8 -t 60", "sleep 1")
    c.wait(lambda: [job for job in memory_of(c).get("jobs", []) if job["id"] == waits], LONG,
           "the waiting job in state.json")
    entry = next(job for job in memory_of(c)["jobs"] if job["id"] == waits)
    for version in sorted(KEPT)[:-1]:
        kind = c.fresh_name("kept")
        seen = entry["first_seen"] - 1000 * version
        state = {"schema": "rubato.state/1", "round": 100000 * version,
                 "jobs": [{"id": waits, "submit": entry["submit"], "first_seen": seen, "passed": 3,
                           "passed_since": seen + 1, "refusals": 0}],
                 "reservations": [{"id": waits, "submit": entry["submit"], "partition": "main",
                                   "start": seen, "made": seen, "reason": "first", "gpu_type": "h100",
                                   "shares": [{"node": "gone", "cores": 1,
                                               "gpus": [{"type": "h100", "count": 8}]}]}],
                 "asked_restarts": [{"id": waits, "submit": entry["submit"], "step": "saving"}]}
        c.say(f"-- schema {version}")
        c.stop_ctld()
        getattr(c, "replace_files", replace_files)(c, version, kind, state)
        before = content(remember.database(c), version)
        mark = c.log_mark()
        c.start_ctld()
        copy = f"{remember.database(c)}.schema-{version}"
        c.wait(lambda old=version, made=copy, at=mark: c.log_has(
            f"upgraded from schema version {old} to {NEWEST}; the database of before is {re.escape(made)}",
            at), LONG, "the upgrade in slurmctld.log")
        c.wait(lambda at=mark: c.log_has(r"state.json: 2 parts are left out, the first: reservations\[0\]: "
                                         "names an unknown node", at), LONG, "what is left out in the log")
        c.say(*c.log_lines("upgraded from|left out", mark))
        check(version_of(copy) == version and content(copy, version) == before, "the same rows in the copy",
              content(copy, version))
        check(version_of(remember.database(c)) == NEWEST, f"schema {NEWEST}", version_of(remember.database(c)))
        after = content(remember.database(c), version)
        lost = {table: [row for row in rows if row not in after[table]] for table, rows in before.items()}
        check(not any(lost.values()) and sum(map(len, before.values())) > 14, "all rows", lost)
        c.say(f"rubato.db: {({table: len(rows) for table, rows in before.items()})}, none lost")
        c.expect(lambda name=kind: learn.learnt_cells(c, name), len(learn.PLACES), f"the models of {kind}", LONG)
        c.wait(lambda name=kind: name in c.ask(f"rubato models --type {name}", check=False), LONG,
               "rubato models to have them")
        c.cmd(f"rubato models --type {kind}")
        job, where = learn.next_job(c, kind)
        check(learn.type_of(where) == ["v100"], "the GPU type that the old reports call fastest, v100", where)
        c.cmd(f"scontrol update JobId={job} Comment='rubato!report samples=10;rate=200;batch=8'")
        c.wait(lambda one=job: remember.samples(c, one), LONG, "a new report in the upgraded database")
        c.cmd(f"scancel {job}")
        # Stock Slurm gives the next job no GPU of a node on which one is completing when it restarts.
        c.wait_state(job, "CANCELLED", LONG)
        steps.check_waiting(c, [waits])
        now = c.wait(lambda: memory_of(c).get("round", 0) > 100000 and memory_of(c), LONG, "state.json")
        kept = next(one for one in now["jobs"] if one["id"] == waits)
        c.say(f"state.json: round {now['round']}, job {waits}: {kept}")
        check(kept["first_seen"] == seen and now["round"] > 100000 * version, "the memory of the job", kept)
    seen = steps.states(c, busy)
    check({state for state, _ in seen.values()} == {"RUNNING"}, "the running jobs to run", seen)
    c.cmd(f"scancel {busy[0]}")
    c.wait_state(waits, "COMPLETED", LONG)


def is_known(c):
    """Negative control: the files have the versions of this release."""
    steps.replace(c, "later", (NEWEST, 1))


@scenario(cluster="learn", needs=["rubato"], negative=is_known, timeout=180)
def files_of_a_later_release_are_left_as_they_are(c):
    """Database and state of a later release: refused and kept, jobs run, and moving it away helps

    slurmctld.log says once what to do. Once the database is moved away with its journal, a new one is
    made without a restart.
    """
    schema, state = getattr(c, "later", (NEWEST + 96, 2))
    runs = c.sbatch("-w n1 --gpus=a100:1 -t 60", "sleep 600")
    c.wait_state(runs, "RUNNING", LONG)
    steps.published_again(c)
    path = remember.database(c)
    c.wait(lambda: remember.rows(c, f"SELECT 1 FROM decisions WHERE job_id = {runs}"), LONG, "its start in rubato.db")
    c.stop_ctld()
    base = sqlite3.connect(path)
    base.execute(f"PRAGMA user_version = {schema}")
    base.close()
    state_file = pathlib.Path(c.path("state/rubato/state.json"))
    text = state_file.read_text(encoding="utf-8").replace("rubato.state/1", f"rubato.state/{state}")
    state_file.write_text(text, encoding="utf-8")
    before, mark = (version_of(path), content(path, NEWEST)), c.log_mark()
    c.start_ctld()
    c.wait(lambda: c.log_has(f"running without the store: .*rubato.db has schema version {schema}, this "
                             f"release knows versions up to {NEWEST}: use the release that wrote it, or "
                             "move the file away", mark), 10, "the refusal of the database in the log")
    c.wait(lambda: c.log_has('state.json is not used: schema: expected "rubato.state/1", found '
                             f'"rubato.state/{state}"; it is now .*state.json.unused', mark), 10,
           "the refusal of the state in the log")
    c.say(*c.log_lines("running without the store|is not used", mark))
    job = c.sbatch("--gpus=a100:1 -t 5", "true")
    steps.started_by(c, job, "rubato", LONG)
    c.wait_state(job, "COMPLETED", LONG)
    check(c.job(runs)["JobState"] == "RUNNING", "the running job to run", c.job(runs)["JobState"])
    after = (version_of(path), content(path, NEWEST))
    check(before == after and len(after[1]["decisions"]) > 0, "the same database", after)
    aside = pathlib.Path(f"{state_file}.unused")
    check(aside.read_text(encoding="utf-8") == text, "the same state beside the new one", aside)
    said = c.cmd("rubato doctor", check=False)
    check(f"schema version {schema}" in said, "rubato doctor to say it too", said)
    c.cmd(f"cd {os.path.dirname(path)}; mkdir later; mv rubato.db later/; mv rubato.db-* later/", check=False)
    for left in (f"{os.path.dirname(path)}/later", str(aside)):
        c.defer(f"rm -rf {left}")
    c.wait(lambda: c.log_has("the store is open again", mark), 25, "a new database")
    check(version_of(path) == NEWEST, f"schema {NEWEST}", version_of(path))
    lines = c.log_lines("running without the store", mark)
    check(len(lines) == 1, "one line about it", lines)


# -- Rubato taken out and put back -----------------------------------------------------------------


def taken_out(c):
    """slurmctld with stock plugins only."""
    c.use_plugins("stock")
    check(not c.loaded_plugins(), "slurmctld without Rubato", c.loaded_plugins())


def place_of(c, job):
    seen = c.job(job)
    return seen.get("JobState"), seen.get("NodeList"), indices(c, job)


@scenario(cluster="shrink", needs=["rubato"], negative="restore", timeout=300, tier=2)
def jobs_of_other_sizes_outlive_the_removal(c):
    """Rubato is taken out: restarted, grown, waiting and held jobs are kept, and once it is back too

    Running jobs go on at their size, and the waiting one starts under stock Slurm. A job that is
    requeued there keeps its size; when Rubato is back, it asks for the submitted one.
    """
    busy = steps.occupy(c, "h100")
    restarted = c.sbatch(f"--gpus=4 -n4 -t 60 {HINTS}", TRAINS)
    runs_with(c, restarted, 4)
    held = c.sbatch(f"-H --gpus=4 -n4 -t 60 {HINTS}", TRAINS)
    asked = request(c, held)
    c.cmd(f"rubato resize {restarted} --gpus 2", timeout=90)
    runs_with(c, restarted, 2)
    grown = Grows(c)
    grown.grow(4)
    waits = c.sbatch("--gpus=h100:4 -n4 -t 60 --comment='rubato: gpus=2,4'", "sleep 900")
    plain = c.sbatch("-n1 -t 60", "sleep 900")
    c.wait_state(plain, "RUNNING", LONG)
    running = [*busy, restarted, grown.job, plain]
    places = {job: place_of(c, job) for job in running}

    taken_out(c)
    c.cmd("squeue -o '%i %T %r %N %b'")
    for job in running:
        check(place_of(c, job) == places[job], f"job {job} as before: {places[job]}", place_of(c, job))
    grown.lives()
    steps.check_waiting(c, [waits])
    check(c.job(held)["Reason"] == "JobHeldUser", "the held job to be held", c.job(held)["Reason"])
    c.cmd(f"scancel {busy[0]}")
    steps.started_by(c, waits, "stock", LONG)
    check(total(c, waits) == 4, "the submitted size", c.gpus(waits))
    new = c.sbatch("--gpus=a100:1 -t 5", "true")
    steps.started_by(c, new, "stock", LONG)
    c.cmd(f"scontrol requeue {restarted}")
    c.expect(lambda: (c.job(restarted)["Restarts"], c.job(restarted)["JobState"], total(c, restarted)),
             ("2", "RUNNING", 2), "another run at the last size", LONG)
    places = {job: place_of(c, job) for job in (busy[1], grown.job, plain, waits, restarted)}

    c.use_plugins("rubato")
    c.cmd("squeue -o '%i %T %r %N %b'")
    for job, place in places.items():
        check(place_of(c, job) == place, f"job {job} as before: {place}", place_of(c, job))
    c.cmd(f"scontrol requeue {restarted}")
    asks_again(c, restarted, asked)
    new = c.sbatch("--gpus=a100:1 -t 5", "true")
    steps.started_by(c, new, "rubato", LONG)
    grown.grow(8)
    grown.lives()
    agrees(c)
    grown.end()
    check(c.job(restarted)["JobState"] in ("PENDING", "RUNNING") and c.job(held)["JobState"] == "PENDING",
          "no job lost", c.job(restarted))
    agrees(c)


def restarts(c, job):
    """The steps of a job's restarts in interruptions.log."""
    return steps_of(c, job) if os.path.exists(c.path("state/rubato/interruptions.log")) else []


def restart_is_over(c):
    """Negative control: Rubato is taken out when the restarted job runs again."""
    steps.replace(c, "is_requeued", lambda job: restarts(c, job)[-1:] == ["done"])


@scenario(cluster="shrink", needs=["rubato"], negative=restart_is_over, timeout=400, tier=2)
def rubato_is_removed_in_the_middle_of_a_restart(c):
    """Rubato is taken out while one job saves its state and another waits for its new start

    The first runs on. The second starts under stock Slurm, as submitted and from what it saved, when
    the time is over that the requeue set. Back in slurmctld, Rubato restarts neither of them again.
    """
    def is_requeued(job):
        seen = c.job(job)
        return seen["Restarts"] == "1" and seen["JobState"] == "PENDING"
    lead = 12
    saves = c.sbatch(f"--gpus=2 -n2 -t 60 {HINTS.replace('@3', f'@{lead}')}", TRAINS)
    between = c.sbatch(f"--gpus=4 -n4 -t 60 {HINTS}",   # KillWait keeps the job completing for 3 s
                       TRAINS.replace("\ncount=$(cat", "\ntrap '' TERM\ncount=$(cat", 1))
    for job, gpus in ((saves, 2), (between, 4)):
        runs_with(c, job, gpus)
    c.cmd(f"rubato resize {between} --gpus 2 --restart --no-wait")
    c.cmd(f"rubato resize {saves} --gpus 4 --restart --no-wait")
    c.wait(lambda: restarts(c, saves) == ["saving"], LONG, "the first job to have its signal")
    signalled = time.time()
    c.wait(lambda: getattr(c, "is_requeued", is_requeued)(between), LONG, "the second job to be requeued")
    c.cmd(f"scontrol show job {between} | grep -E 'JobState|EligibleTime|TresPer'")

    taken_out(c)
    c.cmd("squeue -o '%i %T %r %S %b'")
    steps.check_waiting(c, [between])
    check(place_of(c, saves)[0] == "RUNNING" and c.job(saves)["Restarts"] == "0", "the first to run on",
          c.job(saves))
    c.cmd(f"scontrol show job {between} | grep -E 'JobState|EligibleTime|TresPer'")
    c.wait_state(between, "RUNNING", 180)
    runs_with_stock(c, between, 4)
    found = counts(c, between)
    check(len(found) == 1 and found[0][0] == found[0][1] and int(found[0][0]) > 0,
          "a run that goes on from what was saved", c.output(between))
    places = {job: place_of(c, job) for job in (saves, between)}
    c.wait(lambda: time.time() > signalled + lead + 124, 180, "the signal to be old", every=1)

    mark = c.log_mark()
    c.use_plugins("rubato")
    steps.published_again(c)
    c.wait(lambda: restarts(c, saves)[-1:] == ["failed"], LONG, "the first restart to be given up")
    c.say(*c.log_lines("restart=", mark))
    for job, place in places.items():
        check(place_of(c, job) == place, f"job {job} as before: {place}", place_of(c, job))
    c.cmd(f"rubato resize {between} --gpus 2", timeout=90)
    runs_with(c, between, 2)
    check(place_of(c, saves) == places[saves], "the first job to run on", place_of(c, saves))


def runs_with_stock(c, job, gpus):
    """The job runs with so many GPUs under stock Slurm, and its step too."""
    c.cmd(f"scontrol show job -d {job} | grep -E 'JobState|NumNodes|TRES|GRES|TresPer'")
    check(total(c, job) == gpus, f"{gpus} GPUs", c.gpus(job))
    c.wait(lambda: c.output(job).count("step ") == 2 * gpus, LONG, "a step of its second run")
