"""Invented memory stores of any size, the same for the same seed: Chinese and English sentences, nobody's life."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from random import Random

LAST_DAY = date(2026, 10, 21)
NEEDLES = ("回南天", "red kettle", "茶")  # words that the questions ask for: rare, rare, and one common character

SIZES = {"month": (30, 50), "year": (365, 50), "decade": (3650, 50), "million": (20_000, 50)}  # day files, entries of each

_TAGS = (
    "计划",
    "决定",
    "茶室",
    "木工",
    "记账",
    "同步",
    "idea",
    "读书",
    "合唱团",
    "todo",
    "修理",
    "天气",
    "家",
    "health",
    "菜单",
)
_WHO = ("老顾", "小满", "阿澈", "宋阿姨", "周老师", "糖糖", "the neighbour", "Mira", "隔壁的猫", "房东")
_WHEN = ("今天早上", "下午三点", "关门以后", "雨停的时候", "昨晚", "周末", "before lunch", "快到九点", "在去车站的路上")
_WHAT = (
    "把松木书架重新量了一遍", "换掉了柜台上的灯泡", "说水压又低了 0.2 MPa", "记下今天卖出 37 杯手冲", "想周末去看海",
    "finished the second draft of the menu", "moved the backup to a new folder", "asked whether the sync had run",
    "给合唱团留了靠窗的位子", "算出来每杯成本 6.4 元", "发现插座只剩两个能用", "read ten pages about old clocks",
    "把三把钥匙分开收好", "答应下个月一起修屋顶", "在门口贴了新的营业时间", "wrote the list again, shorter this time",
    "觉得第一版更好，但是没有说", "买了 2 公斤豆子和一包滤纸", "把账本抄成表格，数字都对上了",
)  # fmt: skip
_WHY = (
    "因为明天有人来看", "it can wait until Monday", "不急，先放着", "这样以后查起来快一点", "她说这叫口音",
    "结果比想的简单", "and nobody noticed", "下次记得先问一声", "大家都同意", "价格等确认了再改",
)  # fmt: skip


def build(root: Path, layout: str, *, files: int, entries: int, seed: int = 7) -> None:
    """Write a store of `files` day files with `entries` entries each, the newest of them on LAST_DAY."""
    random = Random(seed)
    first = LAST_DAY - timedelta(days=files - 1)
    for number in range(files):
        day = first + timedelta(days=number)
        path, text = _DAYS[layout](day, entries, random)
        target = root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8", newline="\n")
    if layout.startswith("archive"):
        _write_catalogs(root)
    if layout == "workspace":
        (root / "MEMORY.md").write_text("# 长期记忆\n\n- 豆 15 克，水 225 克\n", encoding="utf-8", newline="\n")


def sentence(random: Random) -> str:
    """Return one sentence of some 20 to 120 characters; one in 250 holds a needle, many a word of rare characters."""
    parts = [f"{random.choice(_WHO)}{random.choice(_WHEN)}{random.choice(_WHAT)}"]
    if random.random() < 0.004:
        parts.append(f"{random.choice(NEEDLES)}的事先不提")
    if random.random() < 0.3:
        parts.append(f"书名是《{chr(random.randrange(0x4E00, 0x5E00))}{chr(random.randrange(0x4E00, 0x5E00))}》")
    while len(parts[0]) < 20 or random.random() < 0.45:
        parts.append(random.choice(_WHAT if random.random() < 0.5 else _WHY))
        if sum(map(len, parts)) > 90:
            break
    return "，".join(parts)[:120]


def _clocks(day: date, count: int, random: Random) -> Iterator[datetime]:
    """Yield ascending times of one day."""
    for second in sorted(random.sample(range(6 * 3600, 23 * 3600), count)):
        yield datetime(day.year, day.month, day.day, tzinfo=UTC) + timedelta(
            seconds=second, milliseconds=random.randrange(1000)
        )


def _layers_day(day: date, entries: int, random: Random) -> tuple[str, str]:
    lines = [f"# {day}", ""]
    for at in _clocks(day, entries, random):
        tag = "-" if random.random() < 0.3 else random.choice(_TAGS)
        lines.append(f"- [{at:%Y-%m-%dT%H:%M:%S}.{at.microsecond // 1000:03d}Z] [{tag}] {sentence(random)}")
    return f"cold/{day:%Y-%m}/{day}.md", "\n".join(lines) + "\n"


def _archive_day(day: date, entries: int, random: Random) -> tuple[str, str]:
    body = []
    for _ in range(entries):
        label = f"[{random.choice(_TAGS)}] " if random.random() < 0.4 else ""
        body.append(f"- {label}{sentence(random)}")
    index = "；".join(line[2:22] for line in body[:4]).replace("'", "''")
    return f"archive/{day.year}/{day}.md", "\n".join(
        ("---", f"date: {day}", f"index: '{index}'", "---", f"## {day}", *body, "")
    )


def _rich_archive_day(day: date, entries: int, random: Random) -> tuple[str, str]:
    """Return a day file of rich Markdown: as a log of a workspace, and with lists inside lists."""
    path, plain = _archive_day(day, 4, random)
    head = plain.split("\n")[:5]
    lines = []
    for number, at in enumerate(_clocks(day, entries, random)):
        if number % 8 == 0:
            lines += ["", f"### {at:%H:%M} - {random.choice(_TAGS)}", ""]
        lines += _RICH[random.choices(range(len(_RICH)), (*_WEIGHTS, 10))[0]](random)
    return path, "\n".join((*head, *lines)) + "\n"


def _write_catalogs(root: Path) -> None:
    """Write the catalog of each year from the day files' own index lines."""
    for folder in sorted((root / "archive").iterdir()):
        rows = []
        for file in sorted(folder.iterdir()):
            index = file.read_text(encoding="utf-8").split("\n", 3)[2].removeprefix("index: ")
            rows.append(f"{file.stem}\t{index[1:-1].replace(chr(39) * 2, chr(39))}\n")
        catalog = root / "catalog" / f"{folder.name}.tsv"
        catalog.parent.mkdir(exist_ok=True)
        catalog.write_text("".join(rows), encoding="utf-8", newline="\n")


def _workspace_day(day: date, entries: int, random: Random) -> tuple[str, str]:
    """Return a log of rich Markdown: clock headings, items with continuation lines, tags, tasks, tables, quotes, code."""
    lines = [f"# {day}", ""]
    for number, at in enumerate(_clocks(day, entries, random)):
        if number % 8 == 0:
            lines += ["", f"## {at:%H:%M} - {random.choice(_TAGS)}", ""]
        lines += _SHAPES[random.choices(range(len(_SHAPES)), _WEIGHTS)[0]](random)
    return f"memory/{day}.md", "\n".join(lines) + "\n"


_SHAPES: tuple[Callable[[Random], list[str]], ...] = (
    lambda random: [f"- {sentence(random)}"],
    lambda random: [f"- [{random.choice(_TAGS)}] {sentence(random)} #{random.choice(_TAGS)}"],
    lambda random: [f"- **{random.choice(_WHO)}**：{sentence(random)}", f"  {sentence(random)}"],
    lambda random: [f"- [{random.choice(' x')}] {sentence(random)}"],
    lambda random: ["", sentence(random), sentence(random), ""],
    lambda random: ["", f"> {sentence(random)}", ""],
    lambda random: ["", "| 名字 | 价格 |", "|---|---:|", f"| {random.choice(_WHAT)} | {random.randrange(50)} 元 |", ""],
    lambda random: ["", "```python", f"print({random.randrange(100)})", "```", ""],
)
_WEIGHTS = (40, 20, 10, 8, 12, 4, 3, 3)
_RICH: tuple[Callable[[Random], list[str]], ...] = (
    *_SHAPES,
    lambda random: [f"- {sentence(random)}", *(f"  - {sentence(random)}" for _ in range(random.randrange(1, 4)))],
)
_DAYS = {"layers": _layers_day, "archive": _archive_day, "workspace": _workspace_day, "archive-rich": _rich_archive_day}
