#!/bin/bash
# a comment
#SBATCH --job-name="two words" -p gpu
#SBATCH --gpus=a100:2 --time=10 # end
#SBATCH -C fast --mail-type=END

python train.py
#SBATCH --gpus=8
