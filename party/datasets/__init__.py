"""Five public data sets, for a first run without data of one's own; their sources are in `ATTRIBUTION.md`."""
