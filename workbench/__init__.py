"""Battery Workbench: from cycler files to a figure that answers a question."""

__version__ = "0.1.0"
