#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The training of train.py with a number of processes that changes while it runs: process 0 lives from start to end.

Process 0 is a step of one GPU. It starts the others by `srun`, in one more step. When Rubato says that the number of
GPUs changes, all agree on a step at which the others end, and process 0 starts as many as are wanted then. What they
know they get from process 0: the parameters as DistributedDataParallel begins, the state of the optimiser before that.

Before a restart process 0 saves a checkpoint, as train.py does.
"""
import argparse
import os
import signal
import subprocess
import time

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

import rubato
from train import BATCH, load, make_model, save, train

# The other variables of Slurm describe process 0's own step, and the job as it was submitted.
KEPT = ("SLURM_JOB_ID", "SLURM_CONF")


class Group:
    """All processes of one size, as process 0 sees them."""

    def __init__(self, size, number, script, leave=""):
        self.size, self.step = size, None
        os.environ["MASTER_PORT"] = str(int(os.environ["FIRST_PORT"]) + number)
        if size > 1:
            left = {key: value for key, value in os.environ.items()
                    if key in KEPT or not key.startswith("SLURM")}
            where = [f"--exclude={leave}"] if leave else []
            self.step = subprocess.Popen(["srun", "--exact", f"--ntasks={size - 1}", "--gpus-per-task=1", *where,
                                          "python3", script, "--of", str(size)], env=left)
        dist.init_process_group("gloo", rank=0, world_size=size)

    def end(self):
        dist.destroy_process_group()
        if self.step is not None:
            self.step.wait()


def agreed(model, optimiser):
    """The parameters and the state of the optimiser of process 0, in all processes."""
    state = [optimiser.state_dict()]
    dist.broadcast_object_list(state, src=0)
    optimiser.load_state_dict(state[0])
    return DistributedDataParallel(model)


def next_step(step):
    """What process 0 says: the step that comes, or -1 for the end of this size."""
    said = torch.tensor([step])
    dist.broadcast(said, src=0)
    return said.item()


def other(size):
    """A process that process 0 has started. The checkpoint signal is for process 0."""
    signal.signal(signal.SIGUSR1, signal.SIG_IGN)
    rank = 1 + int(os.environ["SLURM_PROCID"])
    dist.init_process_group("gloo", rank=rank, world_size=size)
    model, optimiser = make_model()
    parallel = agreed(model, optimiser)
    while (step := next_step(0)) >= 0:
        train(parallel, optimiser, step, rank, size)
    # Without destructors: right after a collective operation that of gloo can wait for ever (PyTorch 1.13).
    os._exit(0)


def wanted(notice, size):
    """Processes that there have to be after a notice: fewer before the nodes go, more after they came. If a change is
    given up, as many as before."""
    if notice is None or not notice.live:
        return size
    if notice.step == "coming":
        return min(notice.gpus, size)
    return notice.gpus if notice.step == "done" else notice.before


def first(options):
    """Process 0."""
    model, optimiser = make_model()
    begin = load(options.checkpoint, model, optimiser)
    group = Group(rubato.allocation().gpus or 1, 0, __file__)
    parallel = agreed(model, optimiser)
    with rubato.training(batch=BATCH, samples=begin * BATCH, notices=True) as run:
        print(f"process {os.getpid()} begins at step {begin} with {group.size} processes", flush=True)
        changes = 0
        for step in range(begin, options.steps):
            notice = run.notice
            size = wanted(notice, group.size)
            if size != group.size:
                stopped, before = time.monotonic(), group.size
                next_step(-1)
                group.end()
                changes += 1
                group = Group(size, changes, __file__, notice.leave)
                parallel = agreed(model, optimiser)
                print(f"process {os.getpid()} goes on at step {step} with {size} processes instead of {before} after "
                      f"{time.monotonic() - stopped:.1f} s", flush=True)
            if notice is not None:
                if not notice.live:
                    save(options.checkpoint, step, model, optimiser)
                run.answered(notice)
            next_step(step)
            loss = train(parallel, optimiser, step, 0, group.size)
            run.step(samples=BATCH, loss=loss)
            if (step + 1) % 50 == 0:
                print(f"step {step + 1} loss {loss:.5f} processes {group.size}", flush=True)
            if options.pause:
                time.sleep(options.pause)
        next_step(-1)
        group.end()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=4000)
    parser.add_argument("--checkpoint", default="checkpoint.pt")
    parser.add_argument("--pause", type=float, default=0.0, help="seconds that each step sleeps")
    parser.add_argument("--of", type=int, default=0, metavar="N", help="be one of N processes (process 0 says it)")
    options = parser.parse_args()
    if options.of:
        other(options.of)
    else:
        first(options)


if __name__ == "__main__":
    main()
