"""The page that a student gets back from `nbgrader generate_feedback`: one file, no scripts, nothing fetched."""
