"""The wire: what a frame is, byte by byte."""
