"""A page for people without Jupyter: facts and finished figures in, one HTML document out; it reads no store.

The document holds no script and asks for nothing: a policy of its own forbids both. Memories come in as text alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from itertools import groupby

from memkit import display
from memkit.cells import clip, visible

POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"

# The few of Jupyter's names that display's style sheet asks for; `light-dark` follows the reader's system.
CSS = """
:root{color-scheme:light dark;--jp-ui-font-size1:14px;--jp-ui-font-family:system-ui,-apple-system,'Segoe UI','PingFang SC',
'Microsoft YaHei','Noto Sans CJK SC',sans-serif;--jp-ui-font-color1:#1b1b1b;--jp-ui-font-color2:#5c5c5c;
--jp-layout-color1:#fff;--jp-border-color2:#d8d8d8;--jp-brand-color1:#1976d2;--page:#f6f6f4}
@media (prefers-color-scheme:dark){:root{--jp-ui-font-color1:#e6e6e6;--jp-ui-font-color2:#a6a6a6;--jp-layout-color1:#1f1f1f;
--jp-border-color2:#3a3a3a;--jp-brand-color1:#64a8ef;--jp-error-color1:#f2786f;--jp-warn-color1:#f0a050;
--jp-info-color1:#4fc3dc;--jp-success-color1:#7cc47f;--page:#161616}}
*{box-sizing:border-box}
body{margin:0;background:var(--page);color:var(--jp-ui-font-color1);font:14px/1.55 var(--jp-ui-font-family);
overflow-wrap:anywhere}
main{max-width:940px;margin:0 auto;padding:28px 20px 48px}
h1{font-size:24px;font-weight:600;margin:0}h2{font-size:18px;font-weight:600;margin:34px 0 10px}h3{font-size:15px;margin:0}
header p,footer{color:var(--jp-ui-font-color2);margin:4px 0 18px}footer{margin:36px 0 0;font-size:13px}
section>*,figure{max-width:none}.mk.mk.mk.mk{max-width:none}
.box,figure{margin:0 0 14px;padding:16px 20px;border:1px solid var(--jp-border-color2);border-radius:8px;
background:var(--jp-layout-color1)}
figure svg{display:block;max-width:100%;height:auto}figure svg text{fill:currentColor}
.sum p{margin:6px 0}.sum ul{margin:8px 0;padding-left:20px}.sum li{margin:4px 0}.q{color:var(--jp-ui-font-color2)}
@media print{:root{color-scheme:light;--jp-ui-font-color1:#000;--jp-ui-font-color2:#444;--jp-layout-color1:#fff;
--jp-border-color2:#bbb;--jp-brand-color1:#1976d2;--jp-error-color1:#b3261e;--jp-warn-color1:#a85400;
--jp-info-color1:#006d85;--jp-success-color1:#2e7031;--page:#fff}
body{font-size:11pt}main{max-width:none;padding:0}details::details-content{content-visibility:visible;height:auto}
.t.t{overflow:visible}figure,li,tr,.mk.card{break-inside:avoid}h2,h3,summary{break-after:avoid}
*{print-color-adjust:exact}@page{margin:16mm 14mm}}
""".replace("\n", "")


@dataclass(frozen=True, slots=True)
class Report:
    """What a report says. `figures` and `audit` are finished HTML, `summaries` are Markdown (see summaries.extract)."""

    card: display.Card
    made: str
    figures: Sequence[str] = ()
    audit: str = ""
    summaries: Sequence[str] = ()


def document(title: str, body: str) -> str:
    """Return a whole document around HTML; `title` is text."""
    head = (
        '<meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
        '<meta name="viewport" content="width=device-width,initial-scale=1"><meta name="referrer" content="no-referrer">'
        f"<title>{escape(clip(title, 120))}</title><style>{CSS}</style>"
    )
    return f'<!DOCTYPE html>\n<html lang="en"><head>{head}</head>\n<body><main>{body}</main></body></html>\n'


def report(facts: Report) -> str:
    """Return the report as one document: card, charts, findings, summaries; a part that says nothing is left out."""
    title = f"Memory report: {facts.card.title}"
    head = f"<header><h1>{escape(title)}</h1><p>{escape(facts.made)}</p></header>"
    parts = [
        _section("", display.card_html(facts.card)),
        _section("Charts", "".join(facts.figures)),
        _section("Findings", f'<div class="box">{facts.audit}</div>' if facts.audit else ""),
        _section("Latest summaries", "".join(f'<div class="box sum">{markdown(text)}</div>' for text in facts.summaries)),
    ]
    made_by = "<footer>Made from the files as they lie; nothing in them was changed.</footer>"
    return document(f"{title} {facts.card.root}", f"{head}{''.join(parts)}{made_by}")


def _section(title: str, inner: str) -> str:
    heading = f"<h2>{title}</h2>" if title else ""
    return f"<section>{heading}{inner}</section>" if inner else ""


def markdown(text: str) -> str:
    """Return the Markdown of a summary as HTML: headings, quotes and items; all else in a line is text, links too."""
    blocks = []
    for is_list, lines in groupby(text.split("\n"), lambda line: line.startswith(("- ", "* "))):
        inner = "".join(f"<li>{_words(line[2:])}</li>" if is_list else _block(line) for line in lines)
        blocks.append(f"<ul>{inner}</ul>" if is_list else inner)
    return "".join(blocks)


def _block(line: str) -> str:
    """Return a line that is no item."""
    mark, _, rest = line.partition(" ")
    if mark and not mark.strip("#"):
        return f"<h3>{_words(rest)}</h3>"
    if mark == ">":
        return f'<p class="q">{_words(rest)}</p>'
    return f"<p>{_words(line)}</p>" if line.strip() else ""


def _words(text: str) -> str:
    return escape(visible(text))
