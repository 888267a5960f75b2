"""What a command's exit code says."""

OK = 0
"""Complete."""
ATTENTION = 1
"""Complete, but some submissions need a human."""
FAULT = 2
"""The kit or the course is at fault, or the command was not understood."""
STOPPED = 130
"""The user stopped it; the same command goes on."""
