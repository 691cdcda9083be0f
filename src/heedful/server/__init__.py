"""Translating for others, over HTTP: a page, and the interfaces that existing clients speak."""
