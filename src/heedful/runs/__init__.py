"""Two files in, a finished model folder out."""
