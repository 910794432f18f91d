"""What a run will cost, known before it starts: a short calibration of this machine and a model of the protocol."""
