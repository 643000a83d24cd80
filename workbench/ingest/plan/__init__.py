"""What is to be read: which files, and what the options, the sheet and the name rule say of each."""
