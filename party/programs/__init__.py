"""For Python programs: one side of runs, and the files of models; what `cotally serve`, `train` and `predict` do."""
