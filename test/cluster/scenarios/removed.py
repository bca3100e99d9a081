# SPDX-License-Identifier: GPL-2.0-or-later
"""A cluster from which Rubato is taken out, while the SPANK plugin is still in plugstack.conf."""
import pathlib
import shutil
import sys

from cluster import check, scenario

from . import report_file, spank

REPORTS = ("n=1; while :; do n=$((n+1)); echo \"report samples=$n;rate=1;batch=32\" "
           ">> $RUBATO_REPORT_FILE; sleep 0.2; done")


def without_guard(c):
    """Negative control: scontrol drops the partition that only Rubato takes out of a message."""
    wrapper = pathlib.Path(c.path("bin/scontrol-bare"))
    # No shell script: a shell gives up the user that the forwarder runs as.
    wrapper.write_text(f"#!{sys.executable}\nimport os, sys\n"
                       f"os.execv({shutil.which('scontrol')!r}, [word for word in sys.argv "
                       "if not word.startswith('Partition=')])\n", encoding="utf-8")
    wrapper.chmod(0o755)
    set_plugstack(c, f" scontrol={wrapper}")


def set_plugstack(c, more):
    """Adds words to the line of the SPANK plugin."""
    conf = pathlib.Path(c.conf()).with_name("plugstack.conf")
    conf.write_text(conf.read_text(encoding="utf-8").rstrip() + more + "\n", encoding="utf-8")
    c.defer(c.write_conf)


def plugstack_words(c):
    conf = pathlib.Path(c.conf()).with_name("plugstack.conf")
    return conf.read_text(encoding="utf-8").split(" interval=1", 1)[1].rstrip()


@scenario(cluster="spank", needs=["rubato", "spank"], negative=without_guard, timeout=120)
def reports_leave_comments_alone_without_rubato(c):
    """Rubato is taken out while jobs report: their comments and hints stay, new jobs run too"""
    more = plugstack_words(c)
    old = c.sbatch("--gpus=a100:1 -t 5 --comment='my own text' --dl-job-type=removed", REPORTS)
    c.wait(lambda: "samples=" in report_file.segment(c, old), 20, "a report that Rubato takes")
    before = c.job(old)["Comment"]
    check(before.startswith("my own text rubato:"), "the user's text and the hints", before)
    mark = c.log_mark()
    c.use_plugins("stock")
    set_plugstack(c, more)      # use_plugins writes all files
    check(not c.loaded_plugins(), "slurmctld without Rubato", c.loaded_plugins())
    new = c.sbatch("--gpus=a100:1 -t 5", "#SBATCH --dl-job-type=removed\n"
                   f"#SBATCH --comment='also mine'\n{REPORTS}")
    c.wait_state(new, "RUNNING", 30)
    for job, comment in ((old, before), (new, "also mine")):
        c.wait(lambda: c.log_has(rf"update_job.*JobId={job} uid=\d+: ", mark)
               or c.job(job)["Comment"] != comment, 30, f"an update of job {job}")
    c.cmd("sleep 3")            # three intervals of the forwarders
    check(c.job(old)["Comment"] == before, f"the comment {before}", c.job(old)["Comment"])
    check(c.job(new)["Comment"] == "also mine", "the comment of the new job",
          c.job(new)["Comment"])
    c.cmd(f"scancel {old} {new}")


@scenario(cluster="spank", needs=["rubato", "spank"],
          negative=spank.no_plugstack, timeout=90)
def hints_are_ignored_after_the_removal(c):
    """With hints=ignore scripts with --dl- options run under stock Slurm, also with wrong values"""
    if pathlib.Path(c.conf()).with_name("plugstack.conf").exists():
        c.use_plugins("stock")
        set_plugstack(c, " hints=ignore")
    job = c.sbatch("--gpus=1 -t 5 --comment='mine'", "#SBATCH --dl-job-type=x --dl-gpus=none\n"
                   "echo 'report samples=1;rate=1;batch=1' >> $RUBATO_REPORT_FILE && "
                   "echo file=$RUBATO_REPORT_FILE; srun -n1 --dl-batch=many true && echo step")
    c.wait_state(job, "COMPLETED", 30)
    said = c.output(job)
    check("file=/dev/null" in said and "step" in said, "script and step to run, without a file",
          said)
    check(c.job(job)["Comment"] == "mine", "the user's comment", c.job(job)["Comment"])
    check("error" not in said, "no error", said)
