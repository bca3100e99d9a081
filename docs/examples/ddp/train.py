#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Trains a small network with DistributedDataParallel (gloo, on CPUs) and goes on from its checkpoint at any size.

One process a GPU, started by srun or torchrun. The data are made here: no download. The global batch stays the same at
each number of processes, so the loss goes on as if the job had never been restarted.

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

os.environ.setdefault("USE_LIBUV", "0")     # PyTorch of Debian 13 has no libuv, and asks for it

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


def make_model():
    """The same weights in each process; (model, optimiser)."""
    torch.manual_seed(1)
    torch.set_num_threads(1)
    model = torch.nn.Sequential(torch.nn.Linear(FEATURES, 64), torch.nn.Tanh(), torch.nn.Linear(64, 1))
    return model, torch.optim.Adam(model.parameters(), lr=0.003)


def train(model, optimiser, step, rank, size):
    """One step of this process's part of the batch; the mean loss over all processes."""
    inputs, targets = samples_of(step, rank, size)
    optimiser.zero_grad()
    loss = torch.nn.functional.mse_loss(model(inputs), targets)
    loss.backward()
    optimiser.step()
    return mean_over_processes(loss)


def save(path, step, model, optimiser):
    """In one rename, so that a kill leaves a whole checkpoint."""
    torch.save({"step": step, "model": model.state_dict(), "optimiser": optimiser.state_dict()}, path + ".new")
    os.replace(path + ".new", path)


def load(path, model, optimiser):
    """The step to go on with: 0 without a checkpoint."""
    if not os.path.exists(path):
        return 0
    state = torch.load(path)
    model.load_state_dict(state["model"])
    optimiser.load_state_dict(state["optimiser"])
    return state["step"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=4000)
    parser.add_argument("--checkpoint", default="checkpoint.pt")
    parser.add_argument("--pause", type=float, default=0.0, help="seconds that each step sleeps")
    options = parser.parse_args()

    # torchrun sets RANK and WORLD_SIZE, srun the others. MASTER_ADDR and MASTER_PORT come from torchrun or job.sh.
    rank = int(os.environ.get("RANK") or os.environ["SLURM_PROCID"])
    size = int(os.environ.get("WORLD_SIZE") or os.environ["SLURM_NTASKS"])
    dist.init_process_group("gloo", rank=rank, world_size=size)
    model, optimiser = make_model()
    step = load(options.checkpoint, model, optimiser)
    parallel = DistributedDataParallel(model)

    reports = {"samples": step * BATCH} if rank == 0 else {"send": lambda line: None}
    with rubato.training(batch=BATCH, **reports) as run:
        if rank == 0:
            why = run.allocation.restart_reason
            print(f"begins at step {step} with {size} processes" + (f", restarted by {why}" if why else ""), flush=True)
        while step < options.steps:
            mean = train(parallel, optimiser, step, rank, size)
            step += 1
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
