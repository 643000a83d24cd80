extensions = ["myst_parser", "numpydoc", "sphinx.ext.autodoc"]
html_theme = "pydata_sphinx_theme"
