"""Other implementations, called as their own clients call them."""
