"""Many pairs: read, cleaned, counted, in batches."""
