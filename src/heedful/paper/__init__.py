"""The paper's tables and figures, measured here, beside what it prints."""
