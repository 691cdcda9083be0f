"""Corpora that come with the program."""
