"""Writing and running checks: the student's module behind a proxy, comparison, inputs, the pytest plugin."""
