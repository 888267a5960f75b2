"""Standing scores in the forms that other systems read: one module for each, called by `autograder export`."""

FORMATS = ("csv", "canvas", "moodle", "junit", "gradescope", "gradescope-zip", "classroom")
