# SPDX-License-Identifier: GPL-2.0-or-later
"""Folders that other users control."""
import os
import pathlib
import shutil

from cluster import check, scenario, second_user

from . import steps


@scenario(cluster="main", needs=["rubato", "root", "second-user"], negative="publish")
def folders_of_other_users_are_refused(c):
    """A PublishDir of another user is not written; the log and doctor name it, jobs still start"""
    folder = pathlib.Path(c.path("foreign"))
    folder.mkdir(mode=0o755, exist_ok=True)
    c.defer(lambda: shutil.rmtree(folder))
    shutil.chown(folder, second_user())
    mark = c.log_mark()
    c.write_rubato_conf(steps.conf(f"PublishDir={folder}"))
    c.wait(lambda: c.log_has(rf"nothing is written to {folder}: belongs to user \d+, who could "
                             "replace its files", mark), 20, "an error in the log")
    job = c.sbatch("--gpus=1 -t 5", "true")
    c.wait_state(job, "COMPLETED", 30)
    check(not os.listdir(folder), "nothing in the folder", os.listdir(folder))
    shutil.chown(folder, "root")
    c.wait(lambda: (folder / "stats.json").exists(), 20, "the files, now that root owns the folder")
