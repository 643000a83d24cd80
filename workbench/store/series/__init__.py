"""Sampled data: columns in compressed chunks under a pyramid of real samples, and the summaries made of them."""
