"""How Sphinx builds the handbook as a site: `make docs`.

Sphinx with MyST reads the Markdown as it stands and checks every link and anchor; the theme is Furo. The
pages hold no directives, so that they read well everywhere. Their order is here.
"""

from __future__ import annotations

from sphinx.application import Sphinx

project = "Citewell"
author = "the Citewell contributors"
extensions = ["myst_parser"]
myst_heading_anchors = 3
myst_links_external_new_tab = False
html_theme = "furo"
html_title = "Citewell"
html_copy_source = False
html_show_sphinx = False
suppress_warnings = ["misc.highlighting_failure"]  # JSON with … and TOML beside text

NAVIGATION = {
    "Start": "quickstart faq compared limits troubleshooting license",
    "Guides": "collections search fetching caching extraction ranking no-evidence generation citations "
    "models browser",
    "The service": "service service-pages service-demonstrations service-openai mcp integrations "
    "service-keys service-deploying service-monitoring security",
    "Reference": "python cli settings recipes formats browser-data storage",
    "Research": "training training-retriever training-generator training-scorer scorer-data browser-training "
    "reinforcement learning-from-users bootstrap evaluating-retrieval evaluating-generation "
    "evaluating-answers studies evaluating-scorers results benchmarks benchmark-data ablations",
}


def _add_navigation(app: Sphinx, page: str, source: list[str]) -> None:
    if page == "index":
        for caption, pages in NAVIGATION.items():
            listed = "\n".join(pages.split())
            source[0] += f"\n```{{toctree}}\n:hidden:\n:caption: {caption}\n\n{listed}\n```\n"


def setup(app: Sphinx) -> None:
    """Give the first page the order of all others."""
    app.connect("source-read", _add_navigation)
