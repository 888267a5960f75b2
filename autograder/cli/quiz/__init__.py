"""What the commands below `autograder quiz` do."""
