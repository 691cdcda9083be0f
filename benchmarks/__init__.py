"""How fast, how large, and beside whom: run by hand, never by `make test`."""
