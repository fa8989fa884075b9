"""Scripts as titles, passages, names, comments and addresses could carry them, and answers that have them."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from citewell.server.store.answers import StoredAnswer
from citewell.server.store.ids import new_id

_RUN = "window.harmed=1"
PAYLOADS = (
    f'<img src=x onerror="{_RUN}">',
    f"<script>{_RUN}</script>",
    f'"><svg onload={_RUN}>',
    f"'><body onpageshow='{_RUN}'>",
    f"</title></textarea></style></script><script>{_RUN}</script>",
    f'[here](javascript:{_RUN}) ![x](x"onerror="{_RUN}) <javascript:{_RUN}>',
    f'<a href="javascript:{_RUN}" id=x>here</a>',
    f'<iframe srcdoc="<script>parent.{_RUN.removeprefix("window.")}</script>"></iframe>',
    f'<noscript><p title="</noscript><img src=x onerror={_RUN}>">',
    f'<math><mtext><table><mglyph><style><!--</style><img title="--&gt;&lt;img src=x onerror={_RUN}&gt;">',
    f"&lt;img src=x onerror={_RUN}&gt; &#60;script&#62;{_RUN}&#60;/script&#62;",
    f"%3Cimg%20src=x%20onerror={_RUN}%3E \\u003cscript\\u003e{_RUN}\\u003c/script\\u003e",
    f'" autofocus onfocus="{_RUN}" x="',
    f"' onmouseover='{_RUN}' style='position:fixed;inset:0' x='",
    f"{{{{constructor.constructor('{_RUN}')()}}}} ${{{_RUN}}} {{% raw %}}<%= {_RUN} %>",
    f"\u2028{_RUN}//\u2029';{_RUN}//\\';{_RUN}//",
    "<style>@import 'http://127.0.0.2:9/x.css';*{background:url(http://127.0.0.2:9/y)}</style>",
    f'<base href="http://127.0.0.2:9/"><meta http-equiv=refresh content="0;url=javascript:{_RUN}">',
    f'<form action="javascript:{_RUN}"><button autofocus>Go</button></form>',
    f'<object data="data:text/html,<script>{_RUN}</script>"><embed src="data:text/html,x">',
    f'<svg><animate onbegin={_RUN} attributeName=x dur=1s><use href="data:image/svg+xml,x#x"/></svg>',
    f"<details open ontoggle={_RUN}><summary>x</summary></details>",
    f"<x contenteditable autofocus onfocus={_RUN} tabindex=1>x</x><input autofocus onfocus={_RUN}>",
    f"<<SCRIPT>{_RUN}//<</SCRIPT><scr\0ipt>{_RUN}</scr\0ipt>",
    f"\u202e<script>{_RUN}</script>\u202c\ufeff<ſcript>{_RUN}</ſcript>",
)
"""Each would set `window.harmed` where it became markup."""

URLS = (
    f"javascript:{_RUN}",
    f"JaVaScRiPt:{_RUN}//",
    f" javascript:{_RUN}",
    f"java\nscript:{_RUN}",
    f"data:text/html,<script>parent.{_RUN}</script>",
    f"vbscript:{_RUN}",
    f'https://sky.example/"onclick="{_RUN}" x="',
    f"https://sky.example/</a><script>{_RUN}</script>",
    f"//evil.example/{_RUN}",
    f"blob:https://sky.example/{_RUN}",
    f"file:///etc/passwd#javascript:{_RUN}",
    f"https://javascript:{_RUN}@sky.example/",
)
"""Addresses of pages, as a search or a collection could name them."""


def hostile_answer(payload: str, url: str) -> StoredAnswer:
    """Return an answer in which every text is `payload`, and every address `url`."""
    text = f"Air scatters blue light {payload}."
    shown = {"url": url, "title": payload, "text": text, "score": 0.9, "date": payload, "orders": [payload]}
    body: dict[str, Any] = {
        "question": f"Why is the sky {payload}?",
        "outcome": "answered",
        "answer": text,
        "sentences": [
            {"text": text, "citations": [1, 2], "support": 1.0, "supported": True},
            {"text": payload, "citations": [], "support": 0.4, "supported": False},
        ],
        "references": [{"number": 1} | shown, {"number": 2} | shown],
        "failures": [{"url": url, "reason": payload, "kind": "late"}],
        "candidates": [],
        "notices": [payload],
        "timings": {"search": 0.1, "total": 0.3},
        "models": {"generator": payload},
    }
    now, title = datetime.now(UTC), payload[:80]
    question = body["question"]
    return StoredAnswer(new_id(), None, question, "answer", "done", now, 0.3, body, None, {}, title=title)
