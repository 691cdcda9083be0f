"""All that reads a command line or writes to a terminal."""
