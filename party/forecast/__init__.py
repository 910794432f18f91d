"""What a run will cost, told before it starts: a short calibration of this machine and a model of the protocol."""
