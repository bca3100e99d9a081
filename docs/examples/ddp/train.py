#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Trains a small network with DistributedDataParallel (gloo, on CPUs) and goes on from its checkpoint at any size.

One process a GPU, started by srun. The data are made here: no download. The global batch stays the same at each number
of processes, so the loss goes on as if the job had never been restarted.

Slurm sends SIGUSR1 to the processes before a restart. They agree on the step at which they save, rank 0 writes the
checkpoint, tells Rubato that the job is ready, and all train on until Slurm requeues the job.
"""
import argparse
import os
import time

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

import rubato

BATCH = 64          # of all processes together; divisible by each number of processes
FEATURES = 16


def samples_of(step, rank, size):
    """This process's part of the global batch of a step: the same samples whatever the number of processes."""
    made = torch.Generator().manual_seed(step)
    inputs = torch.randn(BATCH, FEATURES, generator=made)
    targets = torch.sin(inputs.sum(dim=1, keepdim=True)) + inputs[:, :1] * inputs[:, 1:2]
    share = BATCH // size
    return inputs[rank * share:(rank + 1) * share], targets[rank * share:(rank + 1) * share]


def mean_over_processes(value):
    mean = value.detach().clone()
    dist.all_reduce(mean)
    return mean.item() / dist.get_world_size()


def any_process(flag):
    """Whether the flag is set in one of the processes: their signals do not come in the same step."""
    votes = torch.tensor([1.0 if flag else 0.0])
    dist.all_reduce(votes)
    return votes.item() > 0


def save(path, step, model, optimiser):
    """In one rename, so that a kill leaves a whole checkpoint."""
    torch.save({"step": step, "model": model.module.state_dict(), "optimiser": optimiser.state_dict()}, path + ".new")
    os.replace(path + ".new", path)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=4000)
    parser.add_argument("--checkpoint", default="checkpoint.pt")
    parser.add_argument("--pause", type=float, default=0.0, help="seconds that each step sleeps")
    options = parser.parse_args()

    rank, size = int(os.environ["SLURM_PROCID"]), int(os.environ["SLURM_NTASKS"])
    dist.init_process_group("gloo", rank=rank, world_size=size)     # MASTER_ADDR and MASTER_PORT: job.sh
    torch.manual_seed(1)
    torch.set_num_threads(1)
    model = DistributedDataParallel(torch.nn.Sequential(
        torch.nn.Linear(FEATURES, 64), torch.nn.Tanh(), torch.nn.Linear(64, 1)))
    optimiser = torch.optim.Adam(model.parameters(), lr=0.003)
    step = 0
    if os.path.exists(options.checkpoint):
        state = torch.load(options.checkpoint)
        step = state["step"]
        model.module.load_state_dict(state["model"])
        optimiser.load_state_dict(state["optimiser"])

    reports = {"samples": step * BATCH} if rank == 0 else {"send": lambda line: None}
    with rubato.training(batch=BATCH, **reports) as run:
        if rank == 0:
            why = run.allocation.restart_reason
            print(f"begins at step {step} with {size} processes" + (f", restarted by {why}" if why else ""), flush=True)
        while step < options.steps:
            inputs, targets = samples_of(step, rank, size)
            optimiser.zero_grad()
            loss = torch.nn.functional.mse_loss(model(inputs), targets)
            loss.backward()
            optimiser.step()
            step += 1
            mean = mean_over_processes(loss)
            run.step(samples=BATCH, loss=mean)
            if rank == 0 and step % 50 == 0:
                print(f"step {step} loss {mean:.5f} processes {size}", flush=True)
            if any_process(run.should_checkpoint):
                if rank == 0:
                    with run.checkpointing():
                        save(options.checkpoint, step, model, optimiser)
                    print(f"saved step {step}", flush=True)
                run.should_checkpoint = False
            if options.pause:
                time.sleep(options.pause)
    if rank == 0:
        save(options.checkpoint, step, model, optimiser)
        print(f"ends at step {step}", flush=True)


if __name__ == "__main__":
    main()
