"""One module for each revision. None is ever edited: stores that users have were made by them."""
