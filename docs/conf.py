"""Sphinx builds the site of docs/: `make docs`, where a warning is an error."""

import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

import recordpress  # noqa: E402 (after the path to build_support)

project = "recordpress"
author = copyright = "recordpress contributors"
version = release = recordpress.__version__
language = "en"

extensions = ["myst_parser", "build_support.site"]
exclude_patterns = ["_build"]
default_role = "py:obj"
add_module_names = False
smartquotes_action = "qe"  # no dashes: --json stays what is typed
toc_object_entries_show_parents = "hide"
python_display_short_literal_types = True
maximum_signature_line_length = 100
highlight_language = "text"

myst_enable_extensions = ["deflist", "attrs_inline"]
myst_fence_as_directive = ["mermaid"]
myst_heading_anchors = 3

html_theme = "furo"
html_title = f"recordpress {release}"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_sphinx = False
html_copy_source = False
html_extra_path = [path.name for path in sorted(Path(__file__).parent.glob("*.schema.json"))]
html_theme_options = {"navigation_with_keys": True, "top_of_page_buttons": []}
pygments_style = "default"
pygments_dark_style = "github-dark"
