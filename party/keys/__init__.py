"""A party's keys, the secret of its coins, and factors made ahead: what never leaves its folder."""
