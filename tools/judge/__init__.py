"""How the judge of practice is trained: whether a statement says a claim, denies it, or says something else."""
