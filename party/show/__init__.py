"""Everything that people read: the only place that writes for them."""
