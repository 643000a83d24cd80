"""The cache of answers: in memory, and in a file beside the store that may be deleted at any time."""
