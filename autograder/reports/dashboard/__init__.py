"""The page about a class, for its instructor."""
