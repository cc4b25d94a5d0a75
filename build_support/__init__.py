"""How recordpress is built and checked; nothing here is installed. README.md says what each file does."""
