"""What can be typed: arguments, options and help of each command, by the stage of the course that it belongs to.

What a command does is in the module of `cli` with its name, which is imported when the command runs and not before.
"""
