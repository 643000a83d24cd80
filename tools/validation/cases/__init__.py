"""The cases, one file for each family of analyses; each file has a tuple ``CASES``."""
