# SPDX-License-Identifier: GPL-2.0-or-later
"""The SPANK plugin: --dl-* options of sbatch, salloc and srun, and the environment of tasks."""
import os
import pathlib
import re

from cluster import check, scenario, shape

from . import steps

CONF = steps.conf("MessageInterval=0", "TestInject=segment-interval:1")
shape("spank", spank="interval=1", rubato_conf=CONF)

#: A value of each option, all of them together in one job, and what the comment says then.
TOGETHER = {"job-type": "resnet50", "gpus": "1,2,4", "gpu-types": "a100/v100", "batch": "256-1024",
            "samples": "1.28e8", "model": "params=7e9,hidden=4096,layers=32,seq=2048,heads=32",
            "plans": "dp,ga", "checkpoint": "B:USR1@60", "resize": "restart", "device": "gpu",
            "mix-types": None}
ALONE = {"steps": "90000", "target-loss": "2.1"}


def options_of(hints):
    return " ".join(f"--dl-{key}" + ("" if value is None else f"={value}")
                    for key, value in hints.items())


def pairs(comment):
    """{key: value} of the hints in a comment; {} if there are none."""
    _, colon, hints = comment.rpartition("rubato:")
    return dict(pair.partition("=")[::2] for pair in hints.split(";")) if colon else {}


def hints_of(c, job):
    return pairs(c.job(job).get("Comment", ""))


def no_plugstack(c):
    """Negative control: Slurm does not load the plugin."""
    os.unlink(os.path.join(os.path.dirname(c.conf()), "plugstack.conf"))
    c.defer(c.write_conf)


def check_recorded(seen, given):
    wanted = {key: "yes" if value is None else value for key, value in given.items()}
    check({key: seen.get(key) for key in wanted} == wanted, f"{wanted} in the comment", seen)


@scenario(cluster="spank", needs=["rubato", "spank"], negative="hints")
def every_option_is_recorded(c):
    """Each --dl- option of sbatch, #SBATCH, salloc and srun is in the job's comment"""
    listed = re.findall(r"^ +--dl-([a-z-]+)", c.cmd("sbatch --help"), re.MULTILINE)
    check(set(listed) == {*TOGETHER, *ALONE}, "these options in sbatch --help", listed)
    for program in ("salloc", "srun"):
        check(re.findall(r"^ +--dl-([a-z-]+)", c.ask(f"{program} --help"), re.MULTILINE) == listed,
              f"the same in {program} --help")
    show = "scontrol show job $SLURM_JOB_ID"
    for given in (TOGETHER, *({key: value} for key, value in ALONE.items())):
        request = "--gpus=2 -t 5 --requeue"
        job = c.sbatch(f"{request} --comment='of the site' {options_of(given)}", "sleep 0.1")
        check_recorded(hints_of(c, job), given)
        check(c.job(job)["Comment"].startswith("of the site rubato:"), "the site's own text before",
              c.job(job)["Comment"])
        lines = "\n".join(f"#SBATCH {word}" for word in options_of(given).split())
        check_recorded(hints_of(c, c.sbatch(request, f"{lines}\nsleep 0.1")), given)
    # An interactive job keeps its size, and is never interrupted.
    interactive = {**TOGETHER, "gpus": "2", "checkpoint": "none", "resize": "none"}
    for program in ("salloc", "srun"):
        for given in (interactive, *({key: value} for key, value in ALONE.items())):
            answer = c.cmd(f"{program} --gpus=2 -t 5 {options_of(given)} bash -c '{show}' "
                           "| grep Comment=")
            check_recorded(pairs(answer.rstrip()), given)


@scenario(cluster="spank", needs=["rubato", "spank"], negative=no_plugstack)
def no_twins_take_back(c):
    """--no-dl- options take back what the script, the environment and a weaker layer said"""
    script = "#SBATCH --dl-gpus=1,2\n#SBATCH --dl-batch=64\n#SBATCH --dl-mix-types\nsleep 0.1"
    c.cmd(f"cat > twins.sh <<'END'\n#!/bin/bash\n{script}\nEND")
    answer = c.cmd("sbatch --parsable --gpus=2 --no-dl-gpus --no-dl-mix-types --no-dl-job-type "
                   "--comment='rubato: plans=dp; model=params=7e9' --no-dl-plans twins.sh",
                   env={"RUBATO_DL_JOB_TYPE": "abc", "RUBATO_DL_SAMPLES": "1000"})
    seen = hints_of(c, int(answer))
    check({"gpus", "mix-types", "plans", "job-type"}.isdisjoint(seen), "none of these four", seen)
    check(seen.get("batch") == "64" and seen.get("samples") == "1000",
          "batch of the script, samples of the environment", seen)
    again = c.cmd("sbatch --parsable --gpus=2 --no-dl-gpus --dl-gpus=2,4 twins.sh")
    again = hints_of(c, int(again))
    check(again.get("gpus") == "2,4", "the last of several to count", again)


@scenario(cluster="spank", needs=["rubato", "spank"], negative="job-env")
def hints_survive_any_export(c):
    """With --export=NONE, a list, a file or the login environment the hints are recorded, and
    script and steps find what was decided"""
    tell = ("echo batch $RUBATO_GPUS $RUBATO_GPU_TYPE $RUBATO_JOB_TYPE "
            "${RUBATO_REPORT_FILE:+file}; "
            "PATH=/usr/bin:/bin srun -n1 /bin/sh -c "
            "'echo step $RUBATO_GPUS $RUBATO_GPU_TYPE $RUBATO_JOB_TYPE "
            "${RUBATO_REPORT_FILE:+file}'")
    c.cmd("printf 'FROM=file\\0' > export.env")
    for export in ("--export=NONE", "--export=HOME", "--export=ALL", "--export-file=export.env",
                   "--get-user-env"):
        job = c.sbatch(f"{export} --gpus=a100:2 -t 5 --dl-job-type=exported", tell)
        check(hints_of(c, job).get("job-type") == "exported", "the hint in the comment",
              c.job(job).get("Comment"))
        c.wait_state(job, "COMPLETED", 30)
        said = c.output(job)
        for who in ("batch", "step"):
            check(f"{who} 2 a100 exported file" in said, f"'{who} 2 a100 exported file'", said)
    answer = c.cmd("salloc --gpus=a100:1 -t 5 --dl-job-type=inter bash -c 'echo shell "
                   "$RUBATO_GPUS $RUBATO_GPU_TYPE; srun sh -c \"echo step \\$RUBATO_GPUS "
                   "\\$RUBATO_JOB_TYPE \\${RUBATO_REPORT_FILE:+file}\"'")
    check("shell 1 a100" in answer and "step 1 inter file" in answer, "the same with salloc",
          answer)


@scenario(cluster="spank", needs=["rubato", "spank"], negative=no_plugstack)
def sbatch_refuses_a_wrong_hint_itself(c):
    """A wrong value is refused by the client, with the nearest valid one; nothing is submitted"""
    before = c.sdiag().get("Jobs submitted", c.ask("sdiag | grep 'Jobs submitted'"))
    for words, wanted in (
            ("--dl-resize=liv",
             "--dl-resize: \"liv\" is not one of none, restart, live; did you mean live?"),
            ("--dl-gpus=2-x",
             "--dl-gpus: \"x\" is not a whole number; choose a whole number from 1 to 100000"),
            ("--dl-samples=5 --dl-steps=3",
             "--dl-steps: samples already sets the total work; keep one")):
        for program in ("sbatch --wrap=true", "salloc true", "srun true"):
            name, _, rest = program.partition(" ")
            answer = c.cmd(f"{name} --gpus=1 {words} {rest}", check=False)
            check(answer.rc != 0 and f"{name}: error: {wanted}" in answer, wanted, answer)
    answer = c.cmd("sbatch --gpus=1 --wrap=true", check=False, env={"RUBATO_DL_GPU": "2"})
    wanted = "RUBATO_DL_GPU: unknown variable; did you mean RUBATO_DL_GPUS?"
    check(answer.rc != 0 and wanted in answer, "a wrong variable to be refused too", answer)
    check(c.sdiag().get("Jobs submitted", c.ask("sdiag | grep 'Jobs submitted'")) == before,
          "no submission in sdiag", before)


@scenario(cluster="spank", needs=["rubato", "spank"], negative=no_plugstack)
def hints_stay_with_their_job(c):
    """What is submitted inside of a job does not inherit its hints; a step has none of its own"""
    script = ("sbatch --parsable --gpus=1 -t 1 -o inner.out "
              "--wrap='env | grep -e SPANK.*dl -e RUBATO_; true'\n"
              "srun -n1 --dl-gpus=1 true\n"
              "RUBATO_DL_JOB_TYPE=own sbatch --parsable --gpus=1 -t 1 --wrap=true")
    c.cmd(f"cat > outer.sh <<'END'\n#!/bin/bash\n#SBATCH --dl-job-type=outer\n{script}\nEND")
    job = int(c.cmd("sbatch --parsable --gpus=1 -t 5 outer.sh", env={"RUBATO_DL_BATCH": "32"}))
    c.wait_state(job, "COMPLETED", 30)
    said = c.output(job)
    c.say(said)
    seen = hints_of(c, job)
    check(seen.get("job-type") == "outer" and seen.get("batch") == "32", "both in the outer job",
          seen)
    inside = pathlib.Path(c.path("out/inner.out"))
    c.wait(inside.exists, 15, "the inner job to run")
    c.wait(lambda: "RUBATO_GPUS=1" in inside.read_text(), 15, "its environment")
    check("RUBATO_JOB_TYPE" not in inside.read_text() and "outer" not in inside.read_text(),
          "nothing of the outer job in the environment of the inner one", inside.read_text())
    inner, own = (int(n) for n in re.findall(r"^(\d+)$", said, re.MULTILINE))
    check(hints_of(c, inner) == {}, "no hints in the inner job", c.job(inner).get("Comment"))
    seen = hints_of(c, own)
    check(seen == {"job-type": "own"}, "those that the script gave it", seen)
    check("--dl-gpus does not count here: srun starts a step, and the hints are those of job "
          f"{job}" in said, "a note for the step", said)


@scenario(cluster="main", needs=["rubato", "spank"], negative="hints")
def plugin_absent_on_compute_hosts(c):
    """With the plugin on the login host only, a hinted job is recorded, runs and starts steps"""
    login = pathlib.Path(c.path("login"))
    login.mkdir(exist_ok=True)
    for name in ("slurm.conf", "gres.conf", "cgroup.conf"):
        (login / name).write_text(pathlib.Path(os.path.dirname(c.conf()), name).read_text())
    (login / "plugstack.conf").write_text(f"optional {c.plugins.path}/spank_rubato.so\n")
    answer = c.cmd("sbatch --parsable --gpus=2 -t 5 --dl-job-type=far --dl-mix-types "
                   "--wrap='srun -n1 true && echo file=$RUBATO_REPORT_FILE done'",
                   env={"SLURM_CONF": str(login / "slurm.conf")})
    job = int(answer)
    check(hints_of(c, job).get("job-type") == "far", "the hint in the comment", c.job(job))
    c.wait_state(job, "COMPLETED", 20)
    check("file= done" in c.output(job), "script and step to run, without a report file",
          c.output(job))
    c.say(c.cmd("grep -hi spank log/slurmd.*.log ../log/slurmd.*.log | tail -n 3", check=False))
