"""Sphinx settings of the site. Formulas become MathML when it is built, so that pages need no network."""

from typing import Any

from docutils import nodes
from latex2mathml.converter import convert
from sphinx.application import Sphinx

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
exclude_patterns = ["_build", "benchmarks-table.md", "scale-tables.md", "suite-table.md"]
html_theme = "furo"
html_show_copyright = False
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_title = f"driftmdp {release}"
autosummary_generate = True
autodoc_typehints = "signature"
autodoc_member_order = "bysource"
napoleon_google_docstring = False
napoleon_use_rtype = False
myst_heading_anchors = 3
myst_enable_extensions = ["dollarmath"]
html_math_renderer = "mathml"


def _inline(translator: Any, node: nodes.math) -> None:
    translator.body.append(convert(node.astext()))
    raise nodes.SkipNode


def _block(translator: Any, node: nodes.math_block) -> None:
    translator.body.append(f"<p>{convert(node.astext(), display='block')}</p>")
    raise nodes.SkipNode


def setup(app: Sphinx) -> None:
    """Render formulas as MathML."""
    app.add_html_math_renderer("mathml", (_inline, None), (_block, None))
