"""Files that people write: what there is to translate in them, and all else as it was."""
