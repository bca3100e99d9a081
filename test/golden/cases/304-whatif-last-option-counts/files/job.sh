#!/bin/bash
#SBATCH -p cpu --gpus=8
#SBATCH -p side --exclusive=user
true
