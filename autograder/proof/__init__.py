"""The authoring check: proof that checks catch mistakes, accept right answers and name what is wrong."""
