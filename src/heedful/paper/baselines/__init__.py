"""What was there before the Transformer, for table 2."""
