"""A party in a run: its inputs, what it agrees to, the driver of a session, and a player per kind of job."""
