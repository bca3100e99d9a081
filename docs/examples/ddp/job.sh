#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#SBATCH --job-name=ddp
#SBATCH --gpus=4 --ntasks=4
#SBATCH --time=30 --requeue
#SBATCH --comment="rubato: job-type=ddp-example; gpus=1,2,4; checkpoint=USR1@60; resize=restart"

# checkpoint=USR1@60, without B:, reaches the processes of srun. Process 0 is on this node, by whose address the others
# find it. Each run has its own port.
MASTER_ADDR=$(scontrol show node "$SLURMD_NODENAME" | sed -n 's/.*NodeAddr=\([^ ]*\).*/\1/p')
export MASTER_ADDR
export MASTER_PORT=$((20000 + (SLURM_JOB_ID * 8 + ${SLURM_RESTART_COUNT:-0}) % 20000))
srun python3 train.py "$@"
