"""One string."""
