"""Other people's implementations, called as their own clients call them."""
