"""Processes that read files for this one: how they are started, asked and kept; what they do is in ``read``."""
