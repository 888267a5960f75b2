"""The one exception of this stage."""


class GradingError(Exception):
    """Grading cannot start or go on, by a fault of the kit, the course or the machine. The text says what to do."""
