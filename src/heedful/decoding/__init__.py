"""Section 6.1: from ids to ids, by search."""
