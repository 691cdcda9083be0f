"""Text to text, nothing lost."""
