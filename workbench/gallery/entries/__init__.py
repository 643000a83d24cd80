"""The entries of the gallery: one file each. Its docstring is the question, ``make`` gives plan and params for a store,
and what follows the marker is the script."""
