"""Our models in the formats of other runtimes."""
