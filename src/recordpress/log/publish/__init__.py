"""Publication of finished files: hidden during the write, complete or absent afterwards."""
