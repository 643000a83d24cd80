"""Ours beside its peers: ``python -m benchmarks [--full] [NAME...]``."""
