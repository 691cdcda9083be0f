"""Section 5: loss, schedule, steps, averaging."""
