"""All pages, scripts and styles, as one router."""

from __future__ import annotations

from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from litestar import Router
from litestar.exceptions import HTTPException
from litestar.plugins.jinja import JinjaTemplateEngine
from litestar.template import TemplateConfig

from citewell.core.errors import CitewellError
from citewell.server.pages.answers import answer_page, ask_page, history_page, thread_page
from citewell.server.pages.api import api_page
from citewell.server.pages.collections import collection_page, collections_page, document_page
from citewell.server.pages.compare import compare_page
from citewell.server.pages.demonstrate import demonstration_page, demonstrations_page
from citewell.server.pages.formats import spoken_bytes, spoken_day, spoken_seconds, spoken_time, with_code
from citewell.server.pages.handbook import handbook_page, handbook_start
from citewell.server.pages.icons import icon_of_source
from citewell.server.pages.opensearch import opensearch_description
from citewell.server.pages.rank import rank_page
from citewell.server.pages.rate import rate_page, ratings_page
from citewell.server.pages.replies import page_of_error, page_of_fault, page_of_http_error
from citewell.server.pages.settings import settings_page
from citewell.server.pages.static_files import static_file
from citewell.server.pages.studies import studies_page, study_page, study_results_page
from citewell.server.pages.trace import episode_page, trace_page

_HERE = Path(__file__).parent


def pages() -> Router:
    """Return the pages, and the static files that they load."""
    return Router(
        "/",
        route_handlers=[
            static_file,
            ask_page,
            answer_page,
            icon_of_source,
            thread_page,
            history_page,
            settings_page,
            compare_page,
            rank_page,
            rate_page,
            ratings_page,
            studies_page,
            study_page,
            study_results_page,
            demonstrations_page,
            demonstration_page,
            trace_page,
            episode_page,
            collections_page,
            collection_page,
            document_page,
            api_page,
            opensearch_description,
            handbook_start,
            handbook_page,
        ],
        exception_handlers={
            CitewellError: page_of_error,
            HTTPException: page_of_http_error,
            Exception: page_of_fault,
        },
        include_in_schema=False,
    )


def templates() -> TemplateConfig[JinjaTemplateEngine]:
    """Return the template engine: all values are escaped, and a missing name is an error."""
    environment = Environment(
        loader=FileSystemLoader(_HERE / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "spoken_time": spoken_time,
        "spoken_day": spoken_day,
        "spoken_seconds": spoken_seconds,
        "spoken_bytes": spoken_bytes,
        "with_code": with_code,
    }
    return TemplateConfig(instance=JinjaTemplateEngine.from_environment(environment))
