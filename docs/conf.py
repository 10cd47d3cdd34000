"""Sphinx settings of the site."""

from driftmdp import __version__

project = "driftmdp"
author = "The driftmdp developers"
release = __version__
extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.napoleon",
    "sphinx.ext.viewcode",
]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
exclude_patterns = ["_build", "benchmarks-table.md"]
html_theme = "furo"
html_title = f"driftmdp {release}"
autosummary_generate = True
autodoc_typehints = "signature"
autodoc_member_order = "bysource"
napoleon_google_docstring = False
napoleon_use_rtype = False
myst_heading_anchors = 3
myst_enable_extensions = ["dollarmath"]
