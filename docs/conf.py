"""Sphinx builds the site of docs/: `make docs`, where a warning is an error."""

import os
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

import recordpress  # noqa: E402 (after the path to build_support)
from build_support.site.sources import url_of  # noqa: E402

project = "recordpress"
author = copyright = "recordpress contributors"
version = release = recordpress.__version__
language = "en"

extensions = [
    "myst_parser",
    "sphinx.ext.linkcode",
    "sphinx_copybutton",
    "sphinxext.opengraph",
    "build_support.site",
]
exclude_patterns = ["_build"]
default_role = "py:obj"
add_module_names = False
smartquotes_action = "qe"  # no dashes, so that --json remains as typed
toc_object_entries_show_parents = "hide"
python_display_short_literal_types = True
maximum_signature_line_length = 100
highlight_language = "text"

myst_enable_extensions = ["deflist", "attrs_inline"]
myst_fence_as_directive = ["mermaid"]
myst_heading_anchors = 3

REPOSITORY = "https://github.com/recordpress/recordpress"


def linkcode_resolve(domain: str, info: dict[str, str]) -> str | None:
    """Return the address of the source of a name of the reference."""
    is_named = domain == "py" and info["module"]
    return url_of(REPOSITORY, info["module"], info["fullname"]) if is_named else None


# A button copies the input, without prompts and output.
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True
copybutton_exclude = ".linenos, .gp"

html_theme = "furo"
html_title = f"recordpress {release}"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_favicon = "_static/favicon.svg"
html_search_scorer = str(Path(__file__).with_name("scorer.js"))  # Sphinx embeds it in searchtools.js
html_show_sphinx = False
html_copy_source = False
html_extra_path = [path.name for path in sorted(Path(__file__).parent.glob("*.schema.json"))]
html_theme_options = {
    "navigation_with_keys": True,
    "source_repository": REPOSITORY,
    "source_branch": "main",
    "source_directory": "docs/",
    "top_of_page_buttons": ["view"],
    "light_logo": "logo-light.svg",
    "dark_logo": "logo-dark.svg",
    "footer_icons": [{"name": "Repository", "url": REPOSITORY, "html": "Repository", "class": ""}],
}
html_baseurl = ogp_site_url = os.environ.get("SITE_URL", "")  # where the site is served: a card needs whole addresses
ogp_site_name = "recordpress"
ogp_image = "_static/card.png"
ogp_image_alt = "recordpress: Kafka's record batches and log segments, in Python and Spark"
ogp_social_cards = {"enable": False}  # one picture for all pages needs no plotting library
pygments_style = "default"
pygments_dark_style = "github-dark"
