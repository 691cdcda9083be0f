"""Looking inside a trained model."""
