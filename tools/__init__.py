"""What make calls to set up and to check."""
