"""The files of settings, every key checked."""
