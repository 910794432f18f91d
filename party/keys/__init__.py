"""A party's keys and the secret of its coins: what never leaves its folder."""
