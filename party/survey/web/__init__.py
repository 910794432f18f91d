"""A survey that people answer in their browser: pages, store and the collector's server (Surveys 6.2)."""
