"""A decision tree of counts that nobody sees: the splits and the labels are opened, and nothing else."""
