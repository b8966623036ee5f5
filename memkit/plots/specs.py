"""Frames in, Vega-Lite 5 specs out: plain dicts with their data inside; they name columns of ours, never what a file says.

Colours are middle tones on nothing, which read on a light and on a dark page. Axes are lists of keys, without clock or zone.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil
from typing import Any

import pandas as pd

from memkit import schema
from memkit.cells import columns
from memkit.plots.frames import MISSING
from memkit.stats import CYCLES

Spec = dict[str, Any]

SCHEMA = "https://vega.github.io/schema/vega-lite/v5.json"
WIDTH = 620
FEW, ALOUD = 10, 400
INK, GREY, BLUE, RED = "#797979", "#808080", "#3f86c9", "#d9603b"
PALE = "rgba(128,128,128,0.45)"  # what has no name; the rest of the names is a little darker
OTHER = "rgba(128,128,128,0.85)"
PALETTE = ("#3f86c9", "#e08a2c", "#3fa06a", "#c9609b", "#8d78d0", "#b5a12e", "#35a3ad", "#cf5f4a", "#9a7b5f")
LETTER = 7  # pixels of a column of text at size 11, so that rooms do not depend on the fonts of a machine
CONFIG: Spec = {
    "font": "system-ui, -apple-system, 'Segoe UI', 'PingFang SC', 'Microsoft YaHei', 'Noto Sans CJK SC', sans-serif",
    "view": {"stroke": None},
    "padding": {"left": 8, "top": 5, "right": 26, "bottom": 5},  # a reader's font may be wider than the one measured
    "title": {
        "anchor": "start", "frame": "group", "fontSize": 13, "fontWeight": 600, "color": INK, "offset": 12,
        "subtitleColor": INK, "subtitleFontSize": 11, "subtitlePadding": 4,
    },
    "axis": {
        "labelColor": INK, "titleColor": INK, "labelFontSize": 11, "titleFontSize": 11, "titleFontWeight": "normal",
        "domainColor": GREY, "tickColor": GREY, "gridColor": GREY, "gridOpacity": 0.2, "domainOpacity": 0.5,
        "tickOpacity": 0.5, "labelLimit": 290, "titlePadding": 10,
    },
    "legend": {
        "labelColor": INK, "titleColor": INK, "labelFontSize": 11, "titleFontSize": 11, "titleFontWeight": "normal",
        "labelLimit": 150, "symbolType": "square",
    },
    "header": {"labelColor": INK, "titleColor": INK, "labelFontSize": 11},
}  # fmt: skip

_NUMBERS = ("entries", "chars", "tokens", "cumulative_chars", "cumulative_tokens", "limit", "days", "covered")
_TITLES = {
    "chars": "characters", "cumulative_chars": "characters so far", "cumulative_tokens": "tokens so far", "what": "made",
}  # fmt: skip
# How the round keys end, from fine to coarse, by the length of a key: days, weeks, months.
_STARTS: dict[int, tuple[tuple[str, ...], ...]] = {
    10: (("",), ("-01", "-15"), ("-01",), ("01-01", "04-01", "07-01", "10-01"), ("01-01",)),
    8: (("",), ("-W01", "-W14", "-W27", "-W40"), ("-W01", "-W27"), ("-W01",)),
    7: (("",), ("-01", "-04", "-07", "-10"), ("-01", "-07"), ("-01",)),
}


def values(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """Return a frame as the data of a spec: a dict a row, days as ISO text."""
    plain = {
        name: (column.dt.strftime("%Y-%m-%d") if column.dtype == schema.DAY else column).tolist()
        for name, column in frame.items()
    }
    return [dict(zip(plain, row, strict=True)) for row in zip(*plain.values(), strict=True)]


def spec(title: str, note: str, frame: pd.DataFrame, **body: Any) -> Spec:
    """Return a whole spec; of a frame without rows only the title is left, and words that say so."""
    if not len(frame):
        body = {"width": 480, "height": 20, "mark": {"type": "text", "opacity": 0}}
        note = ", ".join(filter(None, ("nothing to draw yet", note)))
    heading = {"text": title, "subtitle": note} if note else {"text": title}
    head = {"$schema": SCHEMA, "description": title, "title": heading, "background": "transparent", "config": CONFIG}
    return {**head, "data": {"values": values(frame)}, **body}


def field(name: str, title: str | None = None) -> Spec:
    """Return one line of a tooltip."""
    number = {"type": "quantitative", "format": ","} if name in _NUMBERS else {"type": "nominal"}
    return {"field": name, "title": title or _TITLES.get(name, name), **number}


def volume(title: str, frame: pd.DataFrame, keys: Sequence[str], by: str, split: str | None, named: int) -> Spec:
    """Return bars of characters by time, stacked by the groups of `split`, of which the first `named` have a name."""
    encoding: Spec = {"x": axis(keys, by), "y": amount("chars", frame), "color": {"value": BLUE}}
    tips = [by, "entries", "chars"]
    if split is not None:
        encoding["color"] = _groups(frame, split, named)
        encoding["order"] = {"field": "rank", "type": "quantitative"}
        tips.insert(1, split)
    encoding["tooltip"] = [field(name) for name in tips]
    return spec(title, "", frame, **_size(keys), height=220, mark=_bar(keys, len(frame)), encoding=encoding)


def _bar(keys: Sequence[str], number: int) -> Spec:
    """Return the mark of upright bars: a few are no wider than many; hundreds are not read out one by one."""
    return {"type": "bar", **({"size": 48} if len(keys) <= FEW else {}), **({"aria": False} if number > ALOUD else {})}


def _groups(frame: pd.DataFrame, split: str, named: int) -> Spec:
    """Return the colours of groups, in order of their rank; what is no name of anything is grey."""
    names = frame.drop_duplicates("rank").sort_values("rank")[split].tolist()
    tones = [*PALETTE[:named], *(PALE if name == MISSING[split] else OTHER for name in names[named:])]
    return {"field": split, "type": "nominal", "scale": {"domain": names, "range": tones}, "title": split}


def amount(name: str, frame: pd.DataFrame) -> Spec:
    """Return the upright axis of a whole number."""
    label = "datum.value % 1 ? '' : datum.value < 1000 ? format(datum.value, ',') : format(datum.value, '~s')"
    steps = min(5, max(1, int(frame[name].max()))) if len(frame) else 1
    shown = {"labelExpr": label, "tickCount": steps, "domain": False, "ticks": False}
    return {"field": name, "type": "quantitative", "title": _TITLES.get(name, name), "axis": shown}


def axis(keys: Sequence[str], by: str) -> Spec:
    """Return the axis of time keys, all of them, labelled at round ones as far as there is room."""
    shown = {"labelAngle": 0, "labelOverlap": "greedy", "labelBound": False, "values": _ticks(list(keys)), "title": None}
    return {"field": by, "type": "ordinal", "scale": {"domain": list(keys), **_gaps(keys)}, "axis": shown}


def _gaps(keys: Sequence[str]) -> Spec:
    return {"paddingInner": 0.15 if len(keys) <= 130 else 0, "paddingOuter": 0}


def _size(keys: Sequence[str]) -> Spec:
    return {"width": min(WIDTH, max(300, 62 * len(keys)))}


def _ticks(keys: list[str]) -> list[str]:
    """Return the keys that get a label: every one, or the starts of months, quarters and years, or each nth."""
    label = max(map(len, keys), default=1) * LETTER + 10
    room = int(WIDTH / label)
    last = [key for key in keys[-1:] if not key[:1].isdecimal()]  # no time, but the lack of one
    dated = keys[: len(keys) - len(last)]
    found = dated
    for ends in _STARTS.get(len(dated[0]) if dated else 0, (("",),)):
        round_ones = [key for key in dated if key.endswith(ends)]
        found = round_ones if len(round_ones) > 1 else found
        if len(found) <= room:
            break
    found = found[:: max(1, ceil(len(found) / room))]
    apart = label * len(keys) / _size(keys)["width"]
    return [key for key in found if not last or len(keys) - 1 - keys.index(key) >= apart] + last


def calendar(title: str, frame: pd.DataFrame, keys: Sequence[str], note: str = "") -> Spec:
    """Return a year as squares: ISO weeks across, weekdays down; a day without entries is a pale square."""
    most = int(frame["entries"].max()) if len(frame) else 0
    some = sorted({1, max(1, round(most / 4)), max(1, round(most / 2)), max(1, most)})
    legend = {"title": "entries", "values": some, "format": "d", "symbolStrokeWidth": 0}
    shade = {"domain": [1, max(most, 2)], "range": [0.3, 1], "type": "sqrt", "clamp": True}
    depth = {"field": "entries", "type": "quantitative", "scale": shade, "legend": legend}
    return spec(
        title, note, frame, width={"step": 11.5}, height={"step": 11.5}, encoding=_squares(frame, keys),
        layer=[_cells("datum.entries == 0", GREY, {"value": 0.14}), _cells("datum.entries > 0", BLUE, depth)],
    )  # fmt: skip


def _cells(test: str, color: str, opacity: Spec) -> Spec:
    mark = {"type": "rect", "color": color, "aria": False}
    return {"transform": [{"filter": test}], "mark": mark, "encoding": {"opacity": opacity}}


def _squares(frame: pd.DataFrame, keys: Sequence[str]) -> Spec:
    days = {"domain": list(CYCLES["weekday"]), "padding": 0.12}
    return {
        "x": {"field": "week", "type": "ordinal", "scale": {"domain": list(keys), "padding": 0.12}, "axis": _months(frame)},
        "y": {
            "field": "weekday", "type": "ordinal", "title": None, "scale": days, "axis": {"domain": False, "ticks": False},
        },
        "tooltip": [field(name) for name in ("date", "weekday", "week", "entries", "chars")],
    }  # fmt: skip


def _months(frame: pd.DataFrame) -> Spec:
    """Return an axis of weeks that is labelled with the months that begin in them."""
    firsts = frame[frame["date"].dt.day == 1]
    names = dict(zip(firsts["week"], firsts["date"].dt.strftime("%b"), strict=True))
    pairs = ", ".join(f"'{week}': '{month}'" for week, month in names.items())  # weeks and months: words of ours
    return {
        "values": list(names), "labelExpr": f"({{{pairs}}})[datum.value]", "labelAngle": 0, "labelAlign": "left",
        "labelOffset": -5, "domain": False, "ticks": False, "title": None,
    }  # fmt: skip


def tags(title: str, frame: pd.DataFrame, keys: Sequence[str], note: str = "") -> Spec:
    """Return bars of characters by name, each with its number."""
    return spec(
        title, note, frame, width=420, height={"step": 19}, encoding={"y": _names(keys, "tag")},
        layer=[
            {
                "mark": {"type": "bar", "color": BLUE},
                "encoding": {"x": _across("chars"), "tooltip": [field(name) for name in ("tag", "entries", "chars")]},
            },
            _numbers("datum.chars", "format(datum.chars, ',')"),
        ],
    )  # fmt: skip


def _names(keys: Sequence[str], name: str) -> Spec:
    """Return a downward axis of names, with room for the widest."""
    room = min(280, max(map(columns, keys), default=0) * LETTER)
    shown = {"title": None, "domain": False, "ticks": False, "labelPadding": 6, "minExtent": room, "labelOverlap": False}
    return {"field": name, "type": "nominal", "scale": {"domain": list(keys), "paddingInner": 0.25}, "axis": shown}


def _across(name: str) -> Spec:
    # Vega's stack keeps its groups in a plain JavaScript object, where a tag `constructor` is taken already
    return {"field": name, "type": "quantitative", "axis": None, "stack": None}


def _numbers(x: str, text: str) -> Spec:
    """Return a layer of numbers at the ends of bars; both are expressions over columns of ours."""
    mark = {"type": "text", "align": "left", "dx": 4, "color": INK, "fontSize": 11, "aria": False}
    made = [{"calculate": x, "as": "_x"}, {"calculate": text, "as": "_text"}]
    return {"transform": made, "mark": mark, "encoding": {"x": _across("_x"), "text": {"field": "_text", "type": "nominal"}}}


def hours(title: str, frame: pd.DataFrame, keys: Sequence[str], note: str = "") -> Spec:
    """Return bars of entries by hour of the day."""
    shown = {"labelAngle": 0, "title": "hour of the day", "labelOverlap": False}
    encoding = {
        "x": {"field": "hour", "type": "ordinal", "scale": {"domain": list(keys), "paddingInner": 0.15}, "axis": shown},
        "y": amount("entries", frame),
        "color": {"value": BLUE},
        "tooltip": [field(name) for name in ("hour", "entries", "chars")],
    }
    return spec(title, note, frame, width=WIDTH, height=180, mark={"type": "bar"}, encoding=encoding)


def growth(title: str, frame: pd.DataFrame, keys: Sequence[str], note: str = "") -> Spec:
    """Return an area that grows with each key of the first column."""
    by, total = frame.columns[0], frame.columns[-1]
    encoding: Spec = {
        "x": axis(keys, by),
        "y": amount(total, frame),
        "tooltip": [field(name) for name in (by, *frame.columns[1:])],
    }
    encoding["x"]["scale"] = {"type": "point", "domain": list(keys), "padding": 0 if len(keys) > 1 else 0.5}
    mark = {"type": "area", "line": {"color": BLUE, "strokeWidth": 1.5}, "color": BLUE, "fillOpacity": 0.25}
    if len(keys) < 2:  # an area of one point has no width
        mark = {"type": "point", "filled": True, "color": BLUE, "size": 60}
    return spec(title, note, frame, width=WIDTH, height=220, mark=mark, encoding=encoding)


def budget(title: str, frame: pd.DataFrame, note: str = "") -> Spec:
    """Return bars of characters, each with a rule at its limit; what is over is of another colour."""
    red = {"condition": {"test": "datum.over_limit", "value": RED}, "value": BLUE}
    tips = [field(name) for name in ("period", "key", "chars", "limit")]
    bar = {"mark": {"type": "bar"}, "encoding": {"x": _across("chars"), "color": red, "tooltip": tips}}
    rule = {"mark": {"type": "tick", "thickness": 2, "color": INK}, "encoding": {"x": _across("limit"), "tooltip": tips}}
    said = "format(datum.chars, ',') + ' / ' + format(datum.limit, ',')"
    names = _names(frame["key"].tolist(), "key")
    return spec(
        title, note, frame, width=420, height={"step": 19}, encoding={"y": names},
        layer=[bar, rule, _numbers("max(datum.chars, datum.limit)", said)],
    )  # fmt: skip


def coverage(title: str, frame: pd.DataFrame, keys: Sequence[str], note: str = "") -> Spec:
    """Return for each thing that is made of days a row of bars by month, from none to all."""
    share: Spec = {"field": "share", "type": "quantitative", "title": None, "scale": {"domain": [0, 1]}}
    share["axis"] = {"format": ".0%", "values": [0, 0.5, 1], "domain": False, "ticks": False}
    made = list(dict.fromkeys(frame["what"]))
    header = {"labelAngle": 0, "labelAlign": "left", "labelOrient": "top", "labelAnchor": "start", "labelPadding": 2}
    encoding = {
        "row": {"field": "what", "type": "nominal", "title": None, "sort": made, "header": header, "spacing": 12},
        "x": axis(keys, "month"),
        "y": share,
        "color": {"value": BLUE},
        "tooltip": [field("month"), field("what"), field("covered"), field("days")],
    }
    return spec(title, note, frame, **_size(keys), height=70, mark=_bar(keys, len(frame)), encoding=encoding)
