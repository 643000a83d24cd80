"""Recipes that the built-in author makes of columns where the gallery has none. Each ends with its script."""
