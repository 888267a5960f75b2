"""What runs the public checks on your files. You need not read or change it."""
