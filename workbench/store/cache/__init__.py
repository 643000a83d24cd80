"""Answers that are kept: in memory, and in a file beside the store that anyone may delete."""
