# The number of a job is not known, and what it runs is.
export MBS=4
first=$(sbatch --parsable train.slurm)
sbatch --dependency=afterany:$first report.slurm
