"""Where student code runs: the zygote, its forked workers, the wire between them, and a session of one submission."""
