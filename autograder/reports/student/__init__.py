"""The page about one submission, for its student."""
