"""Ways to hide a sentence on a page: each is a style sheet and the markup around the sentence."""

from __future__ import annotations

from typing import NamedTuple


class Trick(NamedTuple):
    """A page hides or shows the sentence in place of `@`."""

    markup: str
    css: str = ""
    head: str = ""
    body: str = ""
    """The attributes of `<body>`."""


SECRET = "The moon is made of green cheese, as all astronomers agree since the year 1999."
"""What the pages hide or show."""
TEXT = (
    "A kite flies because the wind lifts it while its line holds it against the wind.",
    "The first kites were flown in China more than two thousand years ago, and were made of silk.",
    "Today most kites are made of ripstop nylon, which is light and does not tear in a strong wind.",
)
"""What each page says besides."""

_INLINE = (
    *("display:none", "display: none !important", "DISPLAY : NONE", "disp\\6c ay:none", "display:/**/none"),
    *("visibility:hidden", "visibility:collapse", "opacity:0", "opacity:0.01", "opacity:0%", "opacity:1e-3"),
    *("filter:opacity(0)", "filter: opacity(0%)", "content-visibility:hidden", "zoom:0"),
    *("position:absolute;left:-9999px", "position:fixed;top:-100em", "position:absolute;right:-5000px"),
    *(
        "position:absolute;inset:-2000px auto auto -2000px",
        "position:relative;left:-200vw",
        "margin-left:-9999px",
    ),
    *("margin:-3000px 0 0 0", "text-indent:-9999px", "text-indent:-100vw;overflow:hidden;white-space:nowrap"),
    *("transform:translateX(-9999px)", "transform:translate(-2000px, 0)", "translate:-3000px 0"),
    *("transform:scale(0)", "transform:scale(0, 1)", "transform:rotateX(90deg)", "scale:0"),
    *("font-size:0", "font-size:0px", "font-size:1px", "font-size:.05em", "font:0/0 a"),
    *("color:transparent", "color:rgba(0,0,0,0)", "color:#0000", "color:rgb(0 0 0 / 0%)", "color:#fff"),
    *("color:white", "color:rgb(255,255,255)", "color:hsl(0, 0%, 100%)", "color:#fefefe"),
    *(
        "background:#000;color:#000",
        "background-color:navy;color:#000080",
        "color:#111;background:rgb(17,17,17)",
    ),
    *("-webkit-text-fill-color:transparent", "position:absolute;clip:rect(0,0,0,0)", "clip-path:inset(100%)"),
    *("clip-path:circle(0)", "clip-path:polygon(0 0, 0 0, 0 0)", "height:0;overflow:hidden"),
    *("width:1px;height:1px;overflow:hidden;position:absolute", "max-height:0;overflow:hidden"),
    *(
        "max-width:0;overflow:hidden;white-space:nowrap",
        "width:0;overflow-x:hidden;height:1em",
        "letter-spacing:-2em",
    ),
)
_SHEETS = (
    *(
        ".x{display:none}",
        "#x{visibility:hidden}",
        "div.x{opacity:0}",
        "body .x{display:none}",
        "main > .x{font-size:0}",
    ),
    *(
        "[data-x]{display:none}",
        ".a.x{display:none}",
        ".x, .y{display:none}",
        "@media screen{.x{display:none}}",
    ),
    *("@media (min-width:100px){.x{display:none}}", "@media all and (max-width:9000px){.x{display:none}}"),
    *(
        "@supports (display:grid){.x{display:none}}",
        ".x{color:#fff} ",
        ".x:not(.y){display:none}",
        "p + .x{display:none}",
    ),
    *(
        ".x{--d:none;display:var(--d)}",
        ":root{--d:none} .x{display:var(--d)}",
        ".x{display:none!important} .x{display:block}",
    ),
    *(
        "#x{display:none} .x{display:block}",
        ".\\78{display:none}",
        "/*{*/.x{display:none}",
        "@layer a{.x{display:none}}",
    ),
    *(
        ".x{position:absolute;left:-9999px}",
        ".x{background:#123456;color:#123456}",
        "div:nth-of-type(1).x{display:none}",
    ),
)
_MARKUP = (
    *(
        "<div hidden>@</div>",
        '<div hidden="until-found">@</div>',
        "<dialog>@</dialog>",
        "<template>@</template>",
    ),
    *(
        '<font color="white">@</font>',
        '<div style="color:#fff"><p>@</p></div>',
        "<!-- @ -->",
        "<noframes>@</noframes>",
        "<noscript>@</noscript>",
    ),
    *(
        '<div style="display:none"><section><p>@</p></section></div>',
        "<textarea>@</textarea>",
    ),
    *(
        '<p>A kite. <span style="display:none">@</span> A wind.</p>',
        '<table bgcolor="#000"><tr><td><font color="black">@</font></table>',
    ),
    *('<div style="font-size:0"><b>@</b></div>', '<div style="visibility:hidden"><div><i>@</i></div></div>'),
    *(
        '<ul><li style="opacity:0">@</li></ul>',
        "<blockquote hidden>@</blockquote>",
        '<a hidden href="/x">@</a>',
    ),
)
_LINK = '<link rel="stylesheet" href="/site.css">'
_CLASSES = (
    "sr-only",
    "visually-hidden",
    "visuallyhidden",
    "screen-reader-text",
    "d-none",
    "element-invisible",
    "is-hidden",
)

HIDING = {
    **{f"style {style}": Trick(f'<div style="{style}">@</div>') for style in _INLINE},
    **{f"sheet {css}": Trick('<div class="a x" id="x" data-x="">@</div>', css) for css in _SHEETS},
    **{f"markup {markup}": Trick(markup) for markup in _MARKUP},
    **{f"class {name}": Trick(f'<p class="{name}">@</p>', head=_LINK) for name in _CLASSES},
    "same color as the page": Trick('<p style="color:#222">@</p>', body='style="background:#222;color:#eee"'),
    "style sheet for screens": Trick(
        '<p class="x">@</p>', head='<style media="screen">.x{display:none}</style>'
    ),
}
"""Sentences that no reader sees."""

SHOWING = {
    "nothing": Trick("<p>@</p>"),
    "aria-hidden, which eyes see": Trick('<p aria-hidden="true">@</p>'),
    "for print alone": Trick('<p class="x">@</p>', "@media print{.x{display:none}}"),
    "on phones alone": Trick('<p class="x">@</p>', "@media (max-width:600px){.x{display:none}}"),
    "a style sheet for print": Trick(
        '<p class="x">@</p>', head='<style media="print">.x{display:none}</style>'
    ),
    "shown again": Trick('<p class="x on">@</p>', ".x{display:none} .x.on{display:block}"),
    "shown by its own style": Trick('<p class="x" style="display:block">@</p>', ".x{display:none}"),
    "shown by what is important": Trick(
        '<p class="x">@</p>', ".x{display:block!important} p.x{display:none}"
    ),
    "another element": Trick('<p class="y">@</p>', ".x{display:none}"),
    "a state": Trick('<p class="x">@</p>', ".x:hover{display:none} .x::before{display:none}"),
    "an animation": Trick(
        '<p class="x">@</p>', "@keyframes in{to{opacity:1}} .x{opacity:0;animation:in 1s forwards}"
    ),
    "white on black": Trick('<p style="color:#fff;background:#000">@</p>'),
    "white on a black page": Trick('<p style="color:#fff">@</p>', body='bgcolor="#000000"'),
    "white over a picture": Trick('<div style="background:url(a.jpg)"><p style="color:#fff">@</p></div>'),
    "white where a style sheet elsewhere may color": Trick('<p style="color:#fff">@</p>', head=_LINK),
    "a tab": Trick('<button aria-controls="t">Kites</button><div id="t" hidden><p>@</p></div>'),
    "a tab panel": Trick('<div role="tabpanel" hidden><p>@</p></div>'),
    "an answer": Trick(
        '<div class="faq"><h3>Why?</h3><div class="faq-answer" style="display:none">@</div></div>'
    ),
    "details": Trick("<details><summary>More</summary><p>@</p></details>"),
    "a wide window": Trick('<p class="d-none d-md-block">@</p>', head=_LINK),
    "a name without a style sheet": Trick('<p class="d-none">@</p>'),
    "a full width": Trick('<div style="position:relative;left:50%;margin-left:-50vw;width:100vw">@</div>'),
    "large letters": Trick('<p style="transform:scale(2)">@</p>'),
    "small letters": Trick('<p style="font-size:11px">@</p>'),
    "a little opacity": Trick('<p style="opacity:.6">@</p>'),
    "a gradient in letters": Trick(
        '<p style="background:linear-gradient(red,blue);background-clip:text;color:transparent">@</p>'
    ),
    "visible within hidden": Trick(
        '<div style="visibility:hidden"><p style="visibility:visible">@</p></div>'
    ),
}
"""Sentences that a reader sees, or can open."""


def page_of(trick: Trick) -> str:
    """Return a page about kites that hides or shows the sentence."""
    first, *others = (f"<p>{paragraph}</p>" for paragraph in TEXT)
    style = f"<style>{trick.css}</style>" if trick.css else ""
    return (
        f"<!doctype html><html><head><title>Kites</title>{trick.head}{style}</head><body {trick.body}>"
        f"<main><h1>Kites</h1>{first}{trick.markup.replace('@', SECRET)}{''.join(others)}</main>"
        "</body></html>"
    )
