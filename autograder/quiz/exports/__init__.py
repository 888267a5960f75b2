"""A bank in the formats of other programs: Canvas, Moodle, Anki, paper. Files that hold keys are for instructors."""
