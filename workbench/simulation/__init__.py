"""Simulations with PyBaMM, in a process of their own with a limit on its time."""

from .process import MODELS, Failed, Job, Result, Running, is_installed, start

__all__ = ["MODELS", "Failed", "Job", "Result", "Running", "is_installed", "start"]
