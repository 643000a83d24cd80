"""Figures as one page whose view controls work without a kernel and without a network.

The figures of all choices are computed when the page is made. What they share is in the page once.
"""
