#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#SBATCH --job-name=ddp-torchrun
#SBATCH --gpus=1 --ntasks=1 --cpus-per-gpu=1
#SBATCH --time=30 --requeue
#SBATCH --comment="rubato: job-type=ddp-example; gpus=1,2,4; checkpoint=USR1@60; resize=live"

./rubato-torchrun --torchrun "${TORCHRUN:-torchrun}" train.py "$@"
