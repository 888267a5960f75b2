"""What people read about grades."""
