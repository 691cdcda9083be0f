"""What is asked of this computer."""
