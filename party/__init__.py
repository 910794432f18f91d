"""A party: data, identity, configuration, transport and command line around the pure `protocols`."""
