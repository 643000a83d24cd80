"""The gallery: ready recipes, each of which answers one question on any store."""
