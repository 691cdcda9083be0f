"""Section 6.1: search, and the translator built on it."""
