"""Text: corpora, pieces, batches."""
