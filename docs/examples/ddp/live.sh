#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#SBATCH --job-name=ddp-live
#SBATCH --gpus=1 --ntasks=1 --cpus-per-gpu=1
#SBATCH --time=30 --requeue
#SBATCH --comment="rubato: job-type=ddp-example; gpus=1,2,4; checkpoint=USR1@60; resize=live"

# Process 0 is on this node, by whose address the others find it. Each size has its own port.
MASTER_ADDR=$(scontrol show node "$SLURMD_NODENAME" | sed -n 's/.*NodeAddr=\([^ ]*\).*/\1/p')
export MASTER_ADDR
export FIRST_PORT=$((20000 + SLURM_JOB_ID * 64 % 20000))
srun --exact --ntasks=1 --gpus=1 python3 live.py "$@"
