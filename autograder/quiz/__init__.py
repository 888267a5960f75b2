"""Knowledge checks: the bank with its keys, what students get of it, taking, marking and exports."""
