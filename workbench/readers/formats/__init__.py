"""The formats, one file a brand: what recognises an export, and which of its columns is which."""
