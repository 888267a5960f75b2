"""A course kit: exercises are written once, cut for students, and graded where their code cannot reach the grade."""

__version__ = "0.1.0"
