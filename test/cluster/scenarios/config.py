# SPDX-License-Identifier: GPL-2.0-or-later
"""rubato.conf and the PluginDir line: reconfigured, bad, missing, of another release, removed."""
import os
import pathlib
import shutil
import struct

from cluster import Failed, check, scenario, shape
from cluster.scenarios import steps

shape("faults")

FILES = ("sched_backfill.so", "select_cons_tres.so", "job_submit_logging.so")


def reconfigure_is_a_restart(c):
    """Negative control: the first `scontrol reconfigure` restarts slurmctld."""
    reconfigure = c.reconfigure

    def restart():
        c.reconfigure = reconfigure
        c.restart_ctld()
    steps.replace(c, "reconfigure", restart)


@scenario(cluster="faults", needs=["rubato"], negative=reconfigure_is_a_restart)
def reconfigure_20_times(c):
    """`scontrol reconfigure` 20 times with jobs running and waiting: none of them notices

    An admin sees the same slurmctld process and the same jobs, and no error. Since Slurm 24.05 each of
    them is a new process, which ends only with the next one.
    """
    busy = steps.occupy(c, "h100")
    running = c.sbatch("--gpus=a100:1 -t 5", "sleep 600", name="runs")
    pending = [c.sbatch("--gpus=h100:8 -N1 -t 5", "sleep 0.2", name="waits") for _ in range(3)]
    c.wait_state(running, "RUNNING", 8)
    pids, mark = [c.ctld_pid()], c.log_mark()
    c.say("$ for i in $(seq 20); do scontrol reconfigure; done")
    for number in range(20):
        c.reconfigure()
        pids.append(c.ctld_pid())
        if number % 5 == 0:
            c.ask("srun -n1 -t 5 true")
    seen = steps.states(c, busy + [running] + pending)
    c.cmd("squeue -p main -t R,PD -n occupy,runs,waits -o '%i %j %T %r %N'")
    check([seen[job][0] for job in busy + [running]] == ["RUNNING"] * 3, "three running jobs", seen)
    steps.check_waiting(c, pending)
    if c.reconfigure_is_a_new_process():
        check(len(set(pids)) == 21 and c.ctld_pid() == pids[-1], "a new slurmctld each time", pids)
        line = r"Relinquishing control to new slurmctld process"
    else:
        check(set(pids) == {c.ctld_pid()}, "the same slurmctld", pids)
        line = r"_slurm_rpc_reconfigure_controller: completed"
    done = len(c.log_lines(line, mark))
    check(done == 20, "20 completed reconfigurations in slurmctld.log", done)
    check(not c.log_has(r"error: rubato", mark), "no error of Rubato",
          c.log_lines(r"error: rubato", mark))
    c.cmd("scancel -n occupy")
    for job in pending:
        steps.started_by(c, job, "rubato")


# Possible mistakes of an admin with rubato.conf, and the resulting log text.
BAD = (("a word that is none", lambda c: c.write_rubato_conf("Mode=palce\n", reconfigure=False),
        r"rubato: .*palce.*place"),
       ("no file", lambda c: c.write_rubato_conf(None, reconfigure=False), r"rubato: .*missing"),
       ("a directory", lambda c: (c.write_rubato_conf(None, reconfigure=False),
                                  os.mkdir(c.path("etc/rubato.conf"))), r"rubato: .*rubato\.conf"))


def _put_back(c):
    if os.path.isdir(c.path("etc/rubato.conf")):
        os.rmdir(c.path("etc/rubato.conf"))


def bad_conf_is_valid(c):
    """Negative control: the file written instead of the bad one is valid and says observe."""
    write = c.write_rubato_conf
    steps.replace(c, "write_rubato_conf", lambda text, reconfigure=True:
                  write("Mode=observe\n", reconfigure=reconfigure))


@scenario(cluster="faults", needs=["rubato"], negative=bad_conf_is_valid)
def bad_conf_never_replaces_a_good_one(c):
    """A bad, missing or unreadable rubato.conf at `scontrol reconfigure`: the good one stays

    An admin sees the word, the line and the nearest valid word in slurmctld.log, and that GPU
    jobs are still started by Rubato.
    """
    c.defer(lambda: _put_back(c))
    for what, leave, said in BAD:
        mark = c.log_mark()
        leave(c)
        c.cmd("scontrol reconfigure")
        lines = c.wait(lambda: c.log_lines(r"rubato: .*was not taken", mark), 5,
                       "a line that the file was not taken")
        c.say(what + ":", *("    " + line for line in c.log_lines("rubato: .*conf", mark)))
        check(c.log_has(said, mark), f"a line like /{said}/", lines)
        steps.started_by(c, c.sbatch("--gpus=a100:1 -t 5", "true"), "rubato")
        _put_back(c)


def conf_is_good_all_the_time(c):
    """Negative control: nothing bad is written."""
    write = c.write_rubato_conf
    steps.replace(c, "write_rubato_conf",
                  lambda text, reconfigure=True: write(steps.conf(), reconfigure=reconfigure))


@scenario(cluster="faults", needs=["rubato"], negative=conf_is_good_all_the_time, timeout=90)
def bad_conf_at_start_means_observe(c):
    """slurmctld starts with a bad, missing or unreadable rubato.conf: stock Slurm starts all jobs

    An admin sees the reason in slurmctld.log and Mode=observe; a good file and
    `scontrol reconfigure` mend it.
    """
    c.defer(lambda: _put_back(c))
    for what, leave, said in BAD:
        leave(c)
        mark = c.log_mark()
        c.restart_ctld()
        c.wait(lambda: c.log_lines(r"rubato: .*rubato\.conf", mark), 5, "a line about the file")
        c.say(what + ":", *("    " + line for line in c.log_lines("rubato: .*conf", mark)))
        check(what == "no file" or c.log_has(said, mark), f"a line like /{said}/")
        answer = c.cmd("srun -J scenario --gpus=a100:1 -t 5 printenv CUDA_VISIBLE_DEVICES")
        check(answer.splitlines()[-1] == "0", "srun to run", answer)
        # After a restart while it completes, stock Slurm 22.05 refuses the next step its GPU in 1 of 60 cases.
        c.wait(lambda: not c.ask("squeue -h -t CG -o %i").strip(), 20, "the job to have completed")
        check(not c.log_has(r"rubato: (started|the gate is closed)", mark),
              "stock Slurm to start all jobs", c.log_lines("rubato: ", mark))
        _put_back(c)
    c.write_rubato_conf(steps.conf())
    steps.started_by(c, c.sbatch("--gpus=a100:1 -t 5", "true"), "rubato")


def symbol_offset(path, name):
    """Offset in a 64-bit ELF file of the datum `name` of its dynamic symbol table."""
    data = pathlib.Path(path).read_bytes()
    table, = struct.unpack_from("<Q", data, 0x28)
    size, count = struct.unpack_from("<HH", data, 0x3a)
    sections = [struct.unpack_from("<IIQQQQIIQQ", data, table + i * size) for i in range(count)]
    symbols = next(s for s in sections if s[1] == 11)       # SHT_DYNSYM
    names = sections[symbols[6]][4]
    for at in range(symbols[4], symbols[4] + symbols[5], symbols[9]):
        where, _, _, section, value, _ = struct.unpack_from("<IBBHQQ", data, at)
        end = data.index(b"\0", names + where)
        if data[names + where:end].decode() == name and section:
            home = sections[section]
            return value - home[3] + home[4]
    raise Failed(f"{path} to have the symbol {name}")


def release_is_right(c):
    """Negative control: the copied files keep their release."""
    c.defer(lambda: c.__dict__.pop("keep_release", None))
    c.keep_release = True


@scenario(cluster="faults", needs=["rubato"], negative=release_is_right)
def files_of_another_release_are_skipped(c):
    """Files built for another Slurm release in the first PluginDir: stock Slurm loads and runs

    An admin sees "Incompatible Slurm plugin" in the log; jobs run, nobody waits.
    """
    folder = c.path("other-release")
    shutil.copytree(os.path.realpath(c.base_plugins.path), folder, dirs_exist_ok=True)
    c.defer(lambda: shutil.rmtree(folder))
    for name in FILES:
        with open(os.path.join(folder, name), "r+b") as file:
            file.seek(symbol_offset(file.name, "plugin_version"))
            release, = struct.unpack("<I", file.read(4))
            if not hasattr(c, "keep_release"):
                file.seek(-4, os.SEEK_CUR)
                file.write(struct.pack("<I", release + 1))
    pending = c.sbatch("--gpus=h100:1 --begin=now+3600 -t 5", "true")
    mark = c.log_mark()
    c.use_plugins("rubato", folder)
    c.say(*("    " + line for line in c.log_lines("Incompatible|ncompatible", mark)[:6]))
    check(not c.loaded_plugins(), "no file of the other release to stay loaded",
          c.loaded_plugins())
    check(len(c.log_lines(r"Incompatible Slurm plugin", mark)) >= 3, "three lines in the log")
    check(c.job(pending).get("JobState") == "PENDING", "the waiting job to be there")
    c.ask(f"scontrol update JobId={pending} StartTime=now")
    job = c.sbatch("--gpus=a100:2 -t 5", "echo devices=$CUDA_VISIBLE_DEVICES")
    for one in (pending, job):
        c.wait_state(one, "COMPLETED", 30)
        c.say(f"job {one}: started by {c.times(one).by}")
        check(c.times(one).by != "rubato", "stock Slurm to start it", c.times(one))
    check("devices=0,1" in c.output(job), "two GPUs", c.output(job))


def line_stays(c):
    """Negative control: slurmctld is restarted, but the PluginDir line stays."""
    steps.replace(c, "use_plugins", lambda *_, **__: c.restart_ctld())


@scenario(cluster="faults", needs=["rubato"], negative=line_stays, timeout=90)
def taking_the_line_out_keeps_every_job(c):
    """The PluginDir line is taken out and slurmctld restarted: every job is kept, stock starts it

    An admin who takes Rubato off edits one line. Running jobs run on; jobs that Rubato held back
    are started by stock Slurm.
    """
    c.write_rubato_conf(steps.conf("TestInject=stop-loop", "HeartbeatTimeout=600"))
    running = c.sbatch("-n2 -t 5", "sleep 600")
    gated = [c.sbatch("--gpus=a100:1 -t 5", "sleep 0.2"), c.sbatch("--gpus=2 -t 5", "sleep 0.2"),
             c.sbatch("-N2 --gpus-per-node=h100:1 -t 5", "sleep 0.2")]
    array = c.sbatch("--array=1-4%2 --gpus=a100:1 -t 5 -o /dev/null", "sleep 0.2")
    c.wait_state(running, "RUNNING", 15)
    steps.check_waiting(c, gated)
    c.cmd("squeue -p main -n scenario -o '%i %T %r %N'")
    c.use_plugins("stock")
    c.cmd("scontrol show config | grep -E '^PluginDir'")
    check(not c.loaded_plugins(), "nothing of Rubato in slurmctld", c.loaded_plugins())
    c.cmd(f"squeue -j {','.join(map(str, [running] + gated + [array]))} -o '%i %T %r %N'")
    check(c.job(running).get("JobState") == "RUNNING", "the running job to run", c.job(running))
    for job in gated:
        steps.started_by(c, job, "stock", 30)
        c.wait_state(job, "COMPLETED", 15)
    c.wait(lambda: c.ask(f"squeue -h -r -j {array} -t CD -o %T").count("COMPLETED") == 4, 30,
           "the four tasks of the array to complete")
    c.cmd(f"scancel {running}")
