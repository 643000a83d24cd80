"""Stored analyses: which there are, what each reads, and how their results are computed once and kept as records."""
