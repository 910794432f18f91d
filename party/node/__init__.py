"""A party in a run: its inputs, what it agrees to, and the driver of a session."""
