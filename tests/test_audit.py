"""A clean store has no finding and a planted fault exactly one; the audit itself changes nothing."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import sqlite3
import unicodedata
from datetime import date, timedelta
from hashlib import sha256
from pathlib import Path

import pytest
from conftest import SAMPLES, open_at

from memkit import schema
from memkit.audit import OWN_RULES, SILENCING, common, rules_of
from memkit.dates import week_days
from memkit.indexing import extract

BROKEN = SAMPLES / "broken"
STORES = {"archive": ".agents/nutstore-sync/memory", "workspace": ".", "layers": "dsh-memory-layers"}
ALL_RULES = {rule.name: rule for rules in (common.RULES, *OWN_RULES.values()) for rule in rules}

DAY = "archive/2025/2025-02-03.md"
C25, C24 = "catalog/2025.tsv", "catalog/2024.tsv"
LOG = "memory/2025-02-26.md"
INDEX = "memory/index.sqlite"
COLD = "cold/2025-02/2025-02-04.md"
DAYS = [f"memory/2025-01-{day:02d}.md" for day in (3, 5, 7, 11, 12, 15, 18, 20, 22, 24)]
DAYS += ["memory/2025-02-03.md", "memory/2025-02-05.md"]

# ---- the smallest stores that trip one rule: where the finding must point ----

BROKEN_AT = {
    "ambiguous-date": ("memory/02-03-2025.md", 0),
    "bad-week": ("summaries/week/2025-W53.md", 0),
    "bom": (DAY, 1),
    "candidate-old": ("hot.md", 4),
    "catalog-quoted": (C25, 1),
    "catalog-unsorted": (C25, 2),
    "conflict-copy": ("archive/2025/2025-02-03 (老顾的冲突副本 2025-02-04).md", 0),
    "control-character": ("memory/2025-02-05.md", 2),
    "date-mismatch": (DAY, 2),
    "date-outlier": ("memory/2024-01-29.md", 0),
    "double-frontmatter": ("memory/notes/song.md", 7),
    "duplicates": ("memory/2025-02-03-0930.md", 1),
    "empty-day": ("memory/2025-02-19.md", 0),
    "entry-invisible": ("cold/2025-02/2025-02-03.md", 4),
    "future-date": ("cold/2025-03/2025-03-15.md", 0),
    "ghost-row": (C25, 2),
    "hot-broken": ("hot.md", 8),
    "hot-over-limit": ("hot.md", 0),
    "impossible-date": ("memory/2025-02-30.md", 0),
    "index-copies-body": (DAY, 3),
    "index-duplicate-key": (DAY, 4),
    "index-empty-phrase": (DAY, 3),
    "index-hidden": (DAY, 2),
    "index-invents": (DAY, 3),
    "index-misses-entry": (DAY, 7),
    "index-missing": (DAY, 3),
    "index-not-one-line": (DAY, 3),
    "index-unquoted": (DAY, 3),
    "merge-marker": ("memory/2025-02-10.md", 4),
    "mixed-encoding": ("memory/2025-02-03.md", 3),
    "month-untopiced": ("hot.md", 0),
    "not-a-day": ("archive/2025/notes.md", 0),
    "not-utf8": (DAY, 7),
    "partition-mismatch": ("cold/2025-02/2025-02-03.md", 4),
    "row-differs": (C25, 1),
    "row-duplicate": (C25, 2),
    "row-malformed": (C25, 2),
    "row-missing": (C25, 0),
    "row-too-early": (C25, 1),
    "row-wrong-year": (C25, 1),
    "same-day-twice": ("archive/2024/2025-02-03.md", 0),
    "secret": ("memory/2025-02-03.md", 2),
    "stored-under-forgotten": ("MEMORY.md", 10),
    "summary-line-not-in-source": ("summaries/day/2025-02-03.md", 8),
    "summary-missing": ("summaries/day/2025-02-04.md", 0),
    "summary-over-budget": ("summaries/day/2025-02-03.md", 0),
    "summary-stale": ("summaries/day/2025-02-03.md", 0),
    "stray-temp": ("archive/2025/.2025-02-03.md.k7q2m9xa.tmp", 0),
    "topic-empty": ("hot.md", 8),
    "topic-ignored": ("hot.md", 10),
    "transcript-bad": ("session/transcript.md", 3),
    "unclosed-fence": ("memory/2025-02-10.md", 5),
    "wrong-month-folder": ("cold/2025-01/2025-02-03.md", 0),
    "wrong-year-folder": ("archive/2024/2025-02-03.md", 0),
    "yaml-invalid": (DAY, 3),
}
AGAINST = {"missing-file", "emptied-day", "frozen-changed"}  # what only a manifest can tell; in test_manifest.py
BUILT = {
    "unreadable",
    "too-large",
    "link-outside",
    "case-twin",
    "index-stale",
    "index-broken",
    *AGAINST,
}  # what git cannot hold; built below


def audit_of(root):
    session = root / "session.jsonl"
    return open_at(root, **({"session": session} if session.exists() else {})).audit()


def found(report):
    return [(row.rule, row.path, row.line) for row in report.frame.itertuples()]


@pytest.mark.parametrize("rule", sorted(BROKEN_AT))
def test_a_broken_sample_trips_exactly_its_rule(rule):
    assert found(audit_of(BROKEN / rule)) == [(rule, *BROKEN_AT[rule])]


def test_every_rule_has_a_sample_or_a_built_store():
    assert {path.name for path in BROKEN.iterdir()} == set(BROKEN_AT)
    assert set(BROKEN_AT) | BUILT == set(ALL_RULES)


@pytest.mark.parametrize("rule", sorted(BROKEN_AT))
def test_a_finding_has_severity_message_fingerprint_and_its_rules_sentence(rule):
    report = audit_of(BROKEN / rule)
    row = report.frame.iloc[0]
    assert row["severity"] == ALL_RULES[rule].severity
    assert row["message"]
    assert re.fullmatch("[0-9a-f]{12}", row["fingerprint"])
    assert report.explain[rule].endswith(".")
    assert report.ok is (row["severity"] == "info")
    assert report.counts == {row["severity"]: 1}


@pytest.mark.parametrize("rule", sorted(ALL_RULES.values(), key=lambda rule: rule.name), ids=lambda rule: rule.name)
def test_a_rule_says_what_is_bad_and_what_is_good(rule):
    assert re.search(r"Bad: .+Good: .+", rule.check.__doc__ or "", re.DOTALL)


@pytest.mark.parametrize(
    "line", ["index: 'a: b'", 'index: "a: b" # 茶', "index: 'it''s'", "index: '\"壶\"'", "index: '''壶'''"]
)
def test_a_quoted_index_of_one_line_is_clean(tmp_path, line):
    write(tmp_path, DAY, f"---\ndate: 2025-02-03\n{line}\n---\n- 壶\n")
    text = open_at(tmp_path).days()["index"].iloc[0]
    write(tmp_path, C25, f"2025-02-03\t{text}\r\n\r\n")
    assert found(open_at(tmp_path).audit()) == []


@pytest.mark.parametrize("layout", STORES)
def test_a_clean_store_has_no_finding(layout):
    report = open_at(SAMPLES / layout).audit()
    assert found(report) == []
    assert report.ok
    assert report.counts == {}
    assert report.checked > 30


# ---- faults planted into a copy of a good sample ----


def read(root, path):
    return (root / path).read_bytes()


def write(root, path, data):
    (root / path).parent.mkdir(parents=True, exist_ok=True)
    (root / path).write_bytes(data if isinstance(data, bytes) else data.encode())


def swap(path, old, new, *, count=1):
    """Return a plant that puts one text in another's place."""

    def plant(root):
        data = read(root, path)
        assert old.encode() in data
        write(root, path, data.replace(old.encode(), new if isinstance(new, bytes) else new.encode(), count))

    return plant


def rows(path, change):
    """Return a plant that changes the list of a file's lines."""

    def plant(root):
        lines = read(root, path).decode().split("\n")[:-1]
        write(root, path, "".join(f"{line}\n" for line in change(lines)))

    return plant


def index(value):
    """Return a plant that writes another `index:` line, or several."""

    def plant(root):
        text = read(root, DAY).decode()
        write(root, DAY, re.sub("(?m)^index: .*$", lambda _: value, text, count=1))

    return plant


def added(path, data):
    return lambda root: write(root, path, data)


def appended(path, data):
    return lambda root: write(root, path, read(root, path) + (data if isinstance(data, bytes) else data.encode()))


def before(path, data):
    return lambda root: write(root, path, data + read(root, path))


def moved(old, new):
    def plant(root):
        (root / new).parent.mkdir(parents=True, exist_ok=True)
        (root / old).rename(root / new)

    return plant


def copy_to(old, new):
    return lambda root: write(root, new, read(root, old))


def removed(path):
    return lambda root: (root / path).unlink()


def linked(path, target):
    def plant(root):
        (root / path).unlink(missing_ok=True)
        (root / path).symlink_to(target)

    return plant


def changed(path, change):
    return lambda root: write(root, path, change(read(root, path)))


def body_of(count):
    """Return a plant that gives the hot layer a body of some characters."""

    def plant(root):
        text = read(root, "hot.md").decode()
        write(root, "hot.md", "壶" * count + "\n\n" + text[text.index("<!-- candidates:start") :])

    return plant


def day(name, *items, index="补记"):
    listed = "".join(f"- {item}\n" for item in items)
    return f"---\ndate: {name}\nindex: '{index}'\n---\n## {name}\n{listed}"


def reindexed(value):
    """Return a plant that gives a day another index, and its catalog row with it."""

    def plant(root):
        index(f"index: '{value}'")(root)
        text = read(root, C25).decode()
        write(root, C25, re.sub("(?m)^2025-02-03\t.*$", lambda _: f"2025-02-03\t{value}", text))

    return plant


def longer(more):
    """Return a plant that adds to a day's index, and to its catalog row."""
    return lambda root: reindexed(told(root) + more)(root)


def told(root):
    """Return the index of the day."""
    return re.search("(?m)^index: '(.*)'$", read(root, DAY).decode())[1]


def synced(*plants):
    """Return a plant that makes a search index, and what is given after it."""

    def plant(root):
        open_at(root, layout="workspace").sync()
        for each in plants:
            each(root)

    return plant


def foreign(path):
    def plant(root):
        with contextlib.closing(sqlite3.connect(root / path)) as conn:
            conn.execute("CREATE TABLE notes (body)")
            conn.commit()

    return plant


def sparse(path):
    def plant(root):
        with (root / path).open("wb") as handle:
            handle.truncate(65 * 1024 * 1024)

    return plant


def outside(path, *, folder=False):
    """Return a plant that puts a link to a place outside the store where a file or folder was."""

    def plant(root):
        (shutil.rmtree if folder else Path.unlink)(root / path)
        (root / path).symlink_to(Path(__file__).parent if folder else Path(__file__), target_is_directory=folder)

    return plant


def quoted(lines):
    return [f"{d}\t'{text.replace(chr(39), chr(39) * 2)}'" for d, _, text in (line.partition("\t") for line in lines)]


def exchanged(lines):
    lines[3], lines[4] = lines[4], lines[3]
    return lines


CONFLICT_NAMES = [
    "2025-02-03 (conflicted copy).md",
    "2025-02-03 (Xiaoman's conflicted copy 2025-02-04).md",  # Dropbox
    "2025-02-03 (conflicted copy 2025-02-04 101010).md",  # Nextcloud
    "2025-02-03_conflict-20250204-101010.md",  # ownCloud
    "2025-02-03.sync-conflict-20250204-101010-ABCDEFG.md",  # Syncthing
    "2025-02-03 (SFConflict laogu@example.org 2025-02-04-10-10-10).md",  # Seafile
    "2025-02-03.Conflict.md",  # Resilio
    "2025-02-03 (Conflicted copy iPhone 202502041010).md",  # Obsidian Sync
    "2025-02-03(冲突_老顾_2025-02-04 10-10-10).md",  # Nutstore
    "2025-02-03 (小满的冲突副本 2025-02-04).md",
    "2025-02-03 冲突文件 阿澈.md",
    "2025-02-03 冲突版本 2.md",
    ".~2025-02-03.md",
    "~$2025-02-03.md",
    ".#2025-02-03.md",
    "2025-02-03.md.tmp",
    "2025-02-03.md~",
    "2025-02-03.md.part",
    "2025-02-03.md.swp",
]
LOCAL = "<<<<<<< LOCAL\n"
MERGE_BODY = b"<<<<<<< HEAD\n- tea\n=======\n- cup\n>>>>>>> 0a1b2c3\n"
DIFF3 = b"<<<<<<< LOCAL\n%b||||||| BASE\n=======\n%b>>>>>>> REMOTE\n"
STAMPED = "- [2025-02-04T08:00:00.000Z] [-] "

SUMMED = "summaries/day/2025-02-04.md"
MONTH = "summaries/month/2025-01.md"
INVENTED = "summary-line-not-in-source"
OTHER_DAY = (SAMPLES / "layers/dsh-memory-layers/cold/2025-02/2025-02-06.md").read_text().strip().rpartition("\n")[2] + "\n"


def gone(path):
    return lambda root: (root / path).unlink()


def struck(path):
    """Return a plant that takes out a file's last line."""
    return lambda root: write(root, path, read(root, path).removesuffix(b"\n").rpartition(b"\n")[0] + b"\n")


def filled(week):
    """Return a plant that puts into a week's summary every entry of its days' summaries."""

    def plant(root):
        days = [path.read_text() for path in map((root / "summaries/day").joinpath, day_names(week)) if path.exists()]
        entries = [line for text in days for line in text.split("\n") if line.startswith("- [")]
        path = f"summaries/week/{week}.md"
        head = read(root, path).decode().partition("\n- [")[0]
        write(root, path, "\n".join([head, *entries]) + "\n")

    return plant


def day_names(week):
    return [f"{day}.md" for day in week_days(week)]


# Keys as their makers write them, put together here so that no scanner takes this file for a leak.
KEY = "q7Xb2mVt9KcR4wLz8NpE1sYd6HgU3jFa5TiO"
SECRETS = {
    "OpenAI": "sk-proj" + "-" + KEY,
    "Anthropic": "sk-ant-api03" + "-" + KEY + "_x-" + KEY,
    "OpenRouter": "sk-or-v1" + "-" + "9f3b7c1e5a2d8046" * 3 + "e1d7",
    "Stripe": "sk_live" + "_" + KEY[:24],
    "GitHub": "ghp" + "_" + KEY,
    "GitHub, fine-grained": "github_pat" + "_" + KEY[:22] + "_" + KEY,
    "GitLab": "glpat" + "-" + KEY[:20],
    "Slack": "xoxb" + "-2838475610-8471029385-" + KEY[:24],
    "a Slack webhook": "https://hooks.slack" + ".com/services/T02K8QW4Z/B05M1XR7J/" + KEY[:24],
    "AWS": "AKIA" + "Z7QX2MVT9KCR4WLB",
    "Google": "AIza" + "Sy" + KEY[:33],
    "Alibaba Cloud": "LTAI5t" + KEY[:18],
    "Hugging Face": "hf" + "_" + KEY[:34],
    "npm": "npm" + "_" + KEY,
    "a JSON web token": "eyJhbGciOiJIUzI1NiJ9" + ".eyJpc3MiOiJzaGFucWl1In0." + KEY,
    "an address": "mysql" + "://shumu:lat1aozi-9@10.0.0.7/books",
    "a private key": "-----BEGIN RSA PRIVATE" + " KEY----- " + KEY + KEY + " " + KEY + KEY,
}
NO_SECRETS = {
    "AWS's own example": "AKIA" + "IOSFODNN7EXAMPLE",
    "a row of x": "sk-" + "x" * 40,
    "a row of digits": "sk-" + "1234567890" * 3,
    "words behind a prefix": "sk-learn-pipeline-with-a-very-long-and-plain-name",
    "a placeholder": "ghp_" + "your_token_goes_here_" + "a" * 20,
    "jwt.io's example": "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9"
    + ".eyJzdWIiOiIxMjM0NTY3ODkwIiwibmFtZSI6IkpvaG4gRG9lIn0.SflKxwRJSMeKKF2QT4fwpMeJf36POk6yJV_adQssw5c",
    "an address without a password": "postgres://localhost:5432/books",
    "a password of a manual": "postgres://user:password@localhost:5432/books",
    "a password to be filled in": "https://shumu:${TOKEN_OF_SHUMU}@git.shanqiu.cn/books.git",
    "a host of a manual": "postgres://shumu:lat1aozi-9@db.example.com/books",
    "the name of a kind": "-----BEGIN RSA PRIVATE KEY-----",
    "a commit": "3f9a1c7e5b2d8046af3f9a1c7e5b2d8046afe1d7",
    "no key at all": "No API key in the build",
    "part of a word": "task-" + KEY + "、desk-2025-02-28-inventory-list",
}
MEMORY = "MEMORY.md"
KEPT = "- 2025-02-28T02:00:00.000Z [钥匙] 备用的一把压在章鱼贴纸下面\n"
LONG_DAY = (SAMPLES / "broken/index-copies-body" / DAY).read_text(encoding="utf-8")
COPY = re.search("(?m)^index: '(.*)'$", LONG_DAY)[1]


def doubled(root):
    """Say one entry of the log again."""
    text = re.search("(?m)^- .{12,}$", read(root, LOG).decode())[0]
    appended(LOG, f"\n{text}\n")(root)


# (layout, fault, plant, rule, path, line; a line of None: not asked, it only must be above zero)
PLANTS = [
    # the catalog
    ("archive", "a row deleted", rows(C25, lambda x: x[:4] + x[5:]), "row-missing", C25, 0),
    ("archive", "the first row deleted", rows(C25, lambda x: x[1:]), "row-missing", C25, 0),
    ("archive", "the last row deleted", rows(C25, lambda x: x[:-1]), "row-missing", C25, 0),
    ("archive", "a row edited", swap(C25, "开业日期定在 3 月 8 日", "开业日期定在 3 月 9 日"), "row-differs", C25, None),
    ("archive", "a row emptied", rows(C25, lambda x: [*x[:2], x[2][:11], *x[3:]]), "row-differs", C25, 3),
    ("archive", "a tab in a row's index", rows(C25, lambda x: [*x[:2], x[2] + "\t尾巴", *x[3:]]), "row-differs", C25, 3),
    ("archive", "a ghost row in its place", rows(C25, lambda x: [x[0], "2025-01-03\t鬼", *x[1:]]), "ghost-row", C25, 2),
    ("archive", "a ghost row at the end", appended(C25, "2025-01-03\t鬼\n"), "ghost-row", C25, None),
    ("archive", "a ghost row on top", before(C25, "2025-02-26\t鬼\n".encode().replace(b"-26", b"-19")), "ghost-row", C25, 1),
    ("archive", "a ghost row with quotes", appended(C25, "2025-01-03\t'鬼'\n"), "ghost-row", C25, None),
    ("archive", "a row twice", rows(C25, lambda x: [*x[:3], x[2], *x[3:]]), "row-duplicate", C25, 4),
    ("archive", "a row again at the end", rows(C25, lambda x: [*x, x[2]]), "row-duplicate", C25, None),
    ("archive", "a row again on top", rows(C25, lambda x: [x[5], *x]), "row-duplicate", C25, 7),
    ("archive", "an old row above the right one", rows(C25, lambda x: [*x[:2], x[2] + "旧", *x[2:]]), "row-duplicate", C25, 3),
    ("archive", "an old row below the right one", rows(C25, lambda x: [*x[:3], x[2] + "旧", *x[3:]]), "row-duplicate", C25, 4),
    ("archive", "two rows swapped", rows(C25, exchanged), "catalog-unsorted", C25, 5),
    ("archive", "all rows the other way round", rows(C25, lambda x: x[::-1]), "catalog-unsorted", C25, 2),
    ("archive", "a first row at the end", rows(C25, lambda x: [*x[1:], x[0]]), "catalog-unsorted", C25, None),
    ("archive", "today's row", appended(C25, "2025-02-28\t离开业还有 15 天\n"), "row-too-early", C25, None),
    ("archive", "today's row on top", before(C25, "2025-02-28\t离开业还有 15 天\n".encode()), "row-too-early", C25, 1),
    ("archive", "tomorrow's row", appended(C25, "2025-03-01\t明天的事\n"), "row-too-early", C25, None),
    (
        "archive",
        "a row moved to another year",
        lambda root: (
            write(root, C25, read(root, C24).split(b"\n")[-2] + b"\n" + read(root, C25)),
            rows(C24, lambda x: x[:-1])(root),
        ),
        "row-wrong-year",
        C25,
        1,
    ),
    (
        "archive",
        "a row also in another year",
        lambda root: write(root, C25, read(root, C24).split(b"\n")[0] + b"\n" + read(root, C25)),
        "row-wrong-year",
        C25,
        1,
    ),
    ("archive", "a row of this year in the last", appended(C24, "2025-02-03\t旧\n"), "row-wrong-year", C24, None),
    ("archive", "a catalog with another year's name", moved(C24, "catalog/2023.tsv"), "row-wrong-year", "catalog/2023.tsv", 1),
    ("archive", "a catalog over another", copy_to(C25, C24), "row-wrong-year", C24, 1),
    (
        "archive",
        "a row without its tab",
        rows(C25, lambda x: [*x[:2], x[2].replace("\t", " "), *x[3:]]),
        "row-malformed",
        C25,
        3,
    ),
    ("archive", "a row of rubbish", rows(C25, lambda x: [*x[:2], "豆包踩过 2222", *x[3:]]), "row-malformed", C25, 3),
    ("archive", "an impossible day", rows(C25, lambda x: [*x[:2], "2025-02-30\t钟", *x[2:]]), "row-malformed", C25, 3),
    (
        "archive",
        "a compact day",
        rows(C25, lambda x: [*x[:2], x[2].replace("2025-01-06", "20250106"), *x[3:]]),
        "row-malformed",
        C25,
        3,
    ),
    ("archive", "no tab in any row", changed(C25, lambda x: x.replace(b"\t", b" ")), "row-malformed", C25, 1),
    ("archive", "a header", before(C25, b"date\tindex\n"), "row-malformed", C25, 1),
    ("archive", "a torn last row", rows(C25, lambda x: [*x[:-1], x[-1][:8]]), "row-malformed", C25, None),
    ("archive", "all rows quoted", rows(C25, quoted), "catalog-quoted", C25, 1),
    ("archive", "one row quoted", rows(C25, lambda x: [*x[:3], *quoted(x[3:4]), *x[4:]]), "catalog-quoted", C25, 4),
    ("archive", "the catalog deleted", removed(C25), "row-missing", C25, 0),
    ("archive", "the catalog emptied", added(C25, b""), "row-missing", C25, 0),
    ("archive", "the catalog with blank lines alone", added(C25, b"\n\n"), "row-missing", C25, 0),
    ("archive", "a BOM before the catalog", before(C25, b"\xef\xbb\xbf"), "bom", C25, 1),
    ("archive", "a bad byte in the catalog", swap(C25, "苔痕", b"\xff\xfe"), "not-utf8", C25, 1),
    ("archive", "a catalog in UTF-16", changed(C25, lambda x: x.decode().encode("utf-16")), "not-utf8", C25, 1),
    ("archive", "a UTF-16 row", appended(C25, "2025-02-29\tkettle\r\n".encode("utf-16-le")), "mixed-encoding", C25, None),
    ("archive", "an ESC in a row", swap(C25, "苔痕", "\x1b[31m苔痕"), "control-character", C25, 1),
    (
        "archive",
        "a merge in the catalog",
        rows(C25, lambda x: [LOCAL[:-1], *x[:3], "=======", *x[:2], x[2] + "旧", ">>>>>>> REMOTE", *x[3:]]),
        "merge-marker",
        C25,
        1,
    ),
    ("archive", "a merge of the whole catalog", changed(C25, lambda x: DIFF3 % (x, x)), "merge-marker", C25, 1),
    (
        "archive",
        "a catalog's conflict copy",
        copy_to(C25, "catalog/2025 (冲突).tsv"),
        "conflict-copy",
        "catalog/2025 (冲突).tsv",
        0,
    ),
    ("archive", "a catalog of no year", added("catalog/all.tsv", b"x"), "not-a-day", "catalog/all.tsv", 0),
    # the index line
    ("archive", "an unquoted colon", index("index: Kepler: 决定"), "yaml-invalid", DAY, 3),
    ("archive", "an open quote", index("index: 'it's tea"), "yaml-invalid", DAY, 3),
    ("archive", "a tab before a key", index("\tindex: 'x'"), "yaml-invalid", DAY, None),
    ("archive", "an alias", index("index: *豆包"), "yaml-invalid", DAY, 3),
    ("archive", "a block scalar", index("index: |\n  红水壶\n  降 B"), "index-not-one-line", DAY, 3),
    ("archive", "a folded scalar", index("index: >-\n  红水壶\n  降 B"), "index-not-one-line", DAY, 3),
    ("archive", "a quoted text over two lines", index("index: '红水壶\n  降 B'"), "index-not-one-line", DAY, 3),
    ("archive", "a tab in quotes", index("index: '红水壶\t降 B'"), "index-not-one-line", DAY, 3),
    ("archive", "an escaped tab", index('index: "红水壶\\t降 B"'), "index-not-one-line", DAY, 3),
    ("archive", "an escaped line break", index('index: "红水壶\\n降 B"'), "index-not-one-line", DAY, 3),
    ("archive", "U+2028 in quotes", index("index: '红水壶\u2028降 B'"), "index-not-one-line", DAY, 3),
    ("archive", "NEL in quotes", index("index: '红水壶\u0085降 B'"), "index-not-one-line", DAY, 3),
    ("archive", "an ESC in the index", index("index: '红水壶\x1b降 B'"), "control-character", DAY, 3),
    ("archive", "two index lines", index("index: '红水壶'\nindex: '坏钟角'"), "index-duplicate-key", DAY, 4),
    ("archive", "the same index twice", index("index: '红水壶'\nindex: '红水壶'"), "index-duplicate-key", DAY, 4),
    ("archive", "a second, blank index", index("index: '红水壶'\nindex:"), "index-duplicate-key", DAY, 4),
    ("archive", "a blank index", index("index:"), "index-missing", DAY, 3),
    ("archive", "an empty text", index("index: ''"), "index-missing", DAY, 3),
    ("archive", "blanks in quotes", index("index: '   '"), "index-missing", DAY, 3),
    ("archive", "no index line", index("tags: [a]"), "index-missing", DAY, None),
    ("archive", "a number", index("index: 2025"), "index-unquoted", DAY, 3),
    ("archive", "a time", index("index: 10:00"), "index-unquoted", DAY, 3),
    ("archive", "a bool", index("index: true"), "index-unquoted", DAY, 3),
    ("archive", "null", index("index: null"), "index-unquoted", DAY, 3),
    ("archive", "a list", index("index: [壶, 钟]"), "index-unquoted", DAY, 3),
    ("archive", "a list below", index("index:\n- 壶\n- 钟"), "index-unquoted", DAY, 3),
    ("archive", "a mapping", index("index: {壶: 钟}"), "index-unquoted", DAY, 3),
    ("archive", "plain text", index("index: 红水壶 · 降 B 🍵"), "index-unquoted", DAY, 3),
    ("archive", "a day closed with ...", changed(DAY, lambda x: x.replace(b"\n---\n", b"\n...\n", 1)), "index-hidden", DAY, 1),
    ("archive", "a blank first line", before(DAY, b"\n"), "index-hidden", DAY, 2),
    ("archive", "a blank behind ---", changed(DAY, lambda x: b"--- " + x[3:]), "index-hidden", DAY, 1),
    ("archive", "an empty front matter", changed(DAY, lambda x: b"---\n" + x[x.index(b"---\n## ") :]), "index-hidden", DAY, 1),
    ("archive", "no front matter", changed(DAY, lambda x: x[x.index(b"## ") :]), "index-missing", DAY, 1),
    ("archive", "an open front matter", changed(DAY, lambda x: x.replace(b"\n---\n", b"\n", 1)), "index-missing", DAY, 1),
    ("archive", "another day's date", swap(DAY, "date: 2025-02-03", "date: 2025-02-04"), "date-mismatch", DAY, 2),
    ("archive", "no date at all", swap(DAY, "date: 2025-02-03", "date: soon"), "date-mismatch", DAY, 2),
    ("archive", "an impossible date", swap(DAY, "date: 2025-02-03", "date: 2025-02-30"), "impossible-date", DAY, 2),
    # a day file of the archive
    ("archive", "a BOM", before(DAY, b"\xef\xbb\xbf"), "bom", DAY, 1),
    ("archive", "CRLF and a BOM", changed(DAY, lambda x: b"\xef\xbb\xbf" + x.replace(b"\n", b"\r\n")), "bom", DAY, 1),
    ("archive", "a bad byte in the body", appended(DAY, b"- \xff\n"), "not-utf8", DAY, None),
    ("archive", "a bad byte in the index", swap(DAY, "钥匙", b"\xff"), "not-utf8", DAY, 3),
    ("archive", "a UTF-16 tail", appended(DAY, "- blue cup, 坏钟角\r\n".encode("utf-16-le")), "mixed-encoding", DAY, None),
    ("archive", "a UTF-16 day", changed(DAY, lambda x: x.decode().encode("utf-16")), "not-utf8", DAY, 1),
    ("archive", "a GBK day", changed(DAY, lambda x: x.decode().encode("gb18030")), "not-utf8", DAY, None),
    ("archive", "an ESC", appended(DAY, "- \x1b[31m红\n"), "control-character", DAY, None),
    ("archive", "a NUL", appended(DAY, b"- a\0b\n"), "control-character", DAY, None),
    ("archive", "a merge in the body", appended(DAY, MERGE_BODY), "merge-marker", DAY, None),
    ("archive", "two merges in one file", appended(DAY, MERGE_BODY + b"- x\n" + MERGE_BODY), "merge-marker", DAY, None),
    ("archive", "a merge of the whole file", changed(DAY, lambda x: DIFF3 % (x, x)), "merge-marker", DAY, 1),
    (
        "archive",
        "a merge of the index",
        index("<<<<<<< HEAD\nindex: '壶'\n=======\nindex: '钟'\n>>>>>>> 0a1b"),
        "merge-marker",
        DAY,
        3,
    ),
    (
        "archive",
        "a merge of index and body",
        lambda root: (
            appended(DAY, MERGE_BODY)(root),
            index("<<<<<<< HEAD\nindex: '壶'\n=======\nindex: '钟'\n>>>>>>> 0a1b")(root),
        ),
        "merge-marker",
        DAY,
        3,
    ),
    (
        "archive",
        "a second front matter",
        appended(DAY, "\n---\ndate: 2025-02-03\nindex: '壶'\n---\n- 再来\n"),
        "double-frontmatter",
        DAY,
        None,
    ),
    ("archive", "an open fence", appended(DAY, "\n```\n- 丢了？\n"), "unclosed-fence", DAY, None),
    ("archive", "an open comment", appended(DAY, "\n<!-- 丢了？\n- 壶\n"), "unclosed-fence", DAY, None),
    ("archive", "a comment over the whole body", swap(DAY, "---\n## ", "---\n<!--\n## "), "unclosed-fence", DAY, 5),
    ("archive", "a day without entries", changed(DAY, lambda x: x[: x.index(b"## ")]), "empty-day", DAY, 0),
    ("archive", "a day of no bytes", added(DAY, b""), "index-missing", DAY, 1),
    (
        "archive",
        "a folder of the wrong year",
        moved(DAY, "archive/2024/2025-02-03.md"),
        "wrong-year-folder",
        "archive/2024/2025-02-03.md",
        0,
    ),
    (
        "archive",
        "a day in two folders",
        copy_to(DAY, "archive/2024/2025-02-03.md"),
        "same-day-twice",
        "archive/2024/2025-02-03.md",
        0,
    ),
    ("archive", "a note among the days", added("archive/2025/notes.md", "- 豆包\n"), "not-a-day", "archive/2025/notes.md", 0),
    (
        "archive",
        "a deeper folder",
        added("archive/2025/02/2025-02-07.md", "- a\n"),
        "not-a-day",
        "archive/2025/02/2025-02-07.md",
        0,
    ),
    (
        "archive",
        "a blank in the name",
        added("archive/2025/2025-02-07. md", "- a\n"),
        "not-a-day",
        "archive/2025/2025-02-07. md",
        0,
    ),
    (
        "archive",
        "full-width digits",
        added("archive/2025/２０２５-02-07.md", "- a\n"),
        "not-a-day",
        "archive/2025/２０２５-02-07.md",
        0,
    ),
    (
        "archive",
        "an impossible day's name",
        added("archive/2025/2025-02-30.md", "- a\n"),
        "impossible-date",
        "archive/2025/2025-02-30.md",
        0,
    ),
    (
        "archive",
        "a day to come",
        added("archive/2025/2025-03-15.md", day("2025-03-15", "开业")),
        "future-date",
        "archive/2025/2025-03-15.md",
        0,
    ),
    (
        "archive",
        "a year typo ahead",
        added("archive/2026/2026-02-01.md", day("2026-02-01", "茶")),
        "future-date",
        "archive/2026/2026-02-01.md",
        0,
    ),
    (
        "archive",
        "a year typo behind",
        lambda root: (
            write(root, "archive/2023/2023-12-29.md", day("2023-12-29", "年货")),
            write(root, "catalog/2023.tsv", "2023-12-29\t补记\n"),
        ),
        "date-outlier",
        "archive/2023/2023-12-29.md",
        0,
    ),
    (
        "archive",
        "a temp file of memkit",
        added("archive/2025/.2025-02-03.md.x1y2z3w4.tmp", b"-"),
        "stray-temp",
        "archive/2025/.2025-02-03.md.x1y2z3w4.tmp",
        0,
    ),
    *[
        ("archive", f"copy {name}", copy_to(DAY, f"archive/2025/{name}"), "conflict-copy", f"archive/2025/{name}", 0)
        for name in CONFLICT_NAMES
    ],
    # what an index says
    ("archive", "an index of phrases alone", reindexed("进行了讨论；确定了方案"), "index-empty-phrase", DAY, 3),
    ("archive", "a phrase at the end", longer("；记录了问题"), "index-empty-phrase", DAY, 3),
    ("archive", "a phrase with a full stop", longer("；做了总结。"), "index-empty-phrase", DAY, 3),
    (
        "archive",
        "a phrase, and the old catalog",
        lambda root: index(f"index: '{told(root)}；进行了讨论'")(root),
        "index-empty-phrase",
        DAY,
        3,
    ),
    (
        "archive",
        "another date",
        lambda root: reindexed(told(root).replace("3 月 8 日", "3 月 9 日"))(root),
        "index-invents",
        DAY,
        3,
    ),
    ("archive", "another number", lambda root: reindexed(told(root).replace("18 个", "19 个"))(root), "index-invents", DAY, 3),
    ("archive", "a sum of nowhere", longer("；一袋半好豆子 67,812 元"), "index-invents", DAY, 3),
    ("archive", "a full date of nowhere", longer("；2026-11-23 拿到许可"), "index-invents", DAY, 3),
    ("archive", "a Latin word of nowhere", longer("；Kepler 的反对写进记录"), "index-invents", DAY, 3),
    ("archive", "an entry that came later", appended(DAY, "- 【豆包】踩坏了排风扇\n"), "index-misses-entry", DAY, None),
    ("archive", "an index of one entry", reindexed("老顾瘦了"), "index-misses-entry", DAY, None),
    (
        "archive",
        "a long body, copied",
        lambda root: (write(root, DAY, LONG_DAY), reindexed(COPY)(root)),
        "index-copies-body",
        DAY,
        3,
    ),
    (
        "archive",
        "nine tenths of a long body",
        lambda root: (write(root, DAY, LONG_DAY), reindexed(COPY[:-30])(root)),
        "index-copies-body",
        DAY,
        3,
    ),
    # what is said
    ("archive", "a token in an entry", swap(DAY, "老顾瘦了，", f"老顾瘦了 {SECRETS['GitHub']}，"), "secret", DAY, 10),
    ("archive", "a token in the index alone", longer("；" + SECRETS["GitHub"]), "secret", DAY, 3),
    (
        "archive",
        "a token in entry, index and row",
        lambda root: (swap(DAY, "老顾瘦了，", f"老顾瘦了 {SECRETS['Google']}，")(root), longer("；" + SECRETS["Google"])(root)),
        "secret",
        DAY,
        10,
    ),
    ("workspace", "a token in a heading", appended(LOG, f"\n## {SECRETS['AWS']}\n- 茶凉了\n"), "secret", LOG, None),
    ("workspace", "a private key in a fence", appended(LOG, f"\n```\n{SECRETS['a private key']}\n```\n"), "secret", LOG, None),
    ("layers", "a token in the hot body", swap("hot.md", "说话短一点", SECRETS["Slack"]), "secret", "hot.md", 0),
    (
        "layers",
        "a token in a candidate",
        swap("hot.md", "<!-- candidates:end", f"- [2025-02-27T08:00:00.000Z] [-] {SECRETS['npm']}\n<!-- candidates:end"),
        "secret",
        "hot.md",
        None,
    ),
    (
        "layers",
        "a token in a cold entry that is a candidate too",
        lambda root: [
            appended("cold/2025-02/2025-02-28.md", line)(root)
            for line in [f"- [2025-02-28T08:00:00.000Z] [-] {SECRETS['npm']}\n"]
            if not swap("hot.md", "<!-- candidates:end", f"{line}<!-- candidates:end")(root)
        ],
        "secret",
        "cold/2025-02/2025-02-28.md",
        None,
    ),
    *[
        ("workspace", f"a secret: {name}", appended(LOG, f"\n- 记一下 {value}\n"), "secret", LOG, None)
        for name, value in SECRETS.items()
    ],
    ("workspace", "an entry twice", doubled, "duplicates", LOG, None),
    ("workspace", "a day's copy in another folder", copy_to(LOG, "memory/archive/2025-02-26.md"), "duplicates", LOG, None),
    (
        "workspace",
        "the same in other width and case",
        appended(LOG, "\n- 把 merge_menu.py 跑了两遍\n- 把 MERGE_MENU.PY 跑了两遍\n"),
        "duplicates",
        LOG,
        None,
    ),
    (
        "layers",
        "an entry twice, with its stamp",
        appended("cold/2025-02/2025-02-28.md", "- [2025-02-28T08:00:00.000Z] [待办] 买木工胶三瓶，砂纸 240 目\n" * 2),
        "duplicates",
        "cold/2025-02/2025-02-28.md",
        None,
    ),
    (
        "workspace",
        "an entry in twelve days",
        lambda root: [appended(path, "\n- 关灯，锁门，钥匙挂回去\n")(root) for path in DAYS],
        "duplicates",
        DAYS[0],
        None,
    ),
    ("workspace", "a log in capitals", added("memory/2025-02-26.MD", "- 茶凉了\n"), "case-twin", LOG, 0),
    ("workspace", "a note in capitals", added("memory/notes/SONG.md", "- 茶凉了\n"), "case-twin", "memory/notes/song.md", 0),
    ("workspace", "a folder in capitals", added("memory/Notes/song.md", "- 茶凉了\n"), "case-twin", "memory/notes/song.md", 0),
    ("workspace", "two long-term files", added("memory.md", "- 茶凉了\n"), "case-twin", "memory.md", 0),
    # files that cannot be read
    ("archive", "a dangling link", linked(DAY, "nowhere.md"), "unreadable", DAY, 0),
    ("archive", "a pipe", lambda root: (removed(DAY)(root), os.mkfifo(root / DAY)), "unreadable", DAY, 0),
    (
        "archive",
        "a pipe in the wrong folder",
        lambda root: os.mkfifo(root / "archive/2024/2025-02-07.md"),
        "unreadable",
        "archive/2024/2025-02-07.md",
        0,
    ),
    ("archive", "a dangling catalog", linked(C25, "nowhere.tsv"), "unreadable", C25, 0),
    ("archive", "a day too large", sparse(DAY), "too-large", DAY, 0),
    ("archive", "a catalog too large", sparse(C25), "too-large", C25, 0),
    ("archive", "a day outside", outside(DAY), "link-outside", DAY, 0),
    ("archive", "a catalog outside", outside(C25), "link-outside", C25, 0),
    ("archive", "a year outside", outside("archive/2025", folder=True), "link-outside", "archive/2025", 0),
    ("archive", "all catalogs outside", outside("catalog", folder=True), "link-outside", "catalog", 0),
    # the workspace
    ("workspace", "a BOM", before(LOG, b"\xef\xbb\xbf"), "bom", LOG, 1),
    ("workspace", "a bad byte", appended(LOG, b"- \xff\n"), "not-utf8", LOG, None),
    (
        "workspace",
        "a UTF-16 tail",
        appended("MEMORY.md", "- cup 坏钟\r\n".encode("utf-16-le")),
        "mixed-encoding",
        "MEMORY.md",
        None,
    ),
    ("workspace", "an ESC", appended(LOG, "- \x1b[31m红\n"), "control-character", LOG, None),
    ("workspace", "a merge", appended(LOG, MERGE_BODY), "merge-marker", LOG, None),
    (
        "workspace",
        "a merge in front matter",
        swap("memory/notes/song.md", "name: song\n", "name: song\n<<<<<<< a\ntype: x\n=======\ntype: y\n>>>>>>> b\n"),
        "merge-marker",
        "memory/notes/song.md",
        3,
    ),
    (
        "workspace",
        "an unquoted colon",
        swap("memory/notes/song.md", "description: ", "description: Tea: "),
        "yaml-invalid",
        "memory/notes/song.md",
        3,
    ),
    (
        "workspace",
        "a second front matter",
        appended("memory/notes/song.md", "\n---\nname: song\n---\n- 壶\n"),
        "double-frontmatter",
        "memory/notes/song.md",
        None,
    ),
    ("workspace", "an open fence", appended(LOG, "\n~~~\n- 丢了？\n"), "unclosed-fence", LOG, None),
    ("workspace", "an open comment on top", before(LOG, b"<!--\n"), "unclosed-fence", LOG, 1),
    ("workspace", "an empty day", added("memory/2025-02-23.md", b""), "empty-day", "memory/2025-02-23.md", 0),
    (
        "workspace",
        "headings alone",
        added("memory/2025-02-23.md", "# 2025-02-23\n## 上午\n"),
        "empty-day",
        "memory/2025-02-23.md",
        0,
    ),
    ("workspace", "a day to come", added("memory/2025-03-15.md", "- 开业\n"), "future-date", "memory/2025-03-15.md", 0),
    ("workspace", "the next year", added("memory/2026-02-03.md", "- 茶\n"), "future-date", "memory/2026-02-03.md", 0),
    (
        "workspace",
        "the last year",
        moved("memory/2025-02-03.md", "memory/2024-02-03.md"),
        "date-outlier",
        "memory/2024-02-03.md",
        0,
    ),
    ("workspace", "an impossible day", added("memory/2025-02-30.md", "- 钟\n"), "impossible-date", "memory/2025-02-30.md", 0),
    ("workspace", "two readings", added("memory/01-02-2025.md", "- 钟\n"), "ambiguous-date", "memory/01-02-2025.md", 0),
    (
        "workspace",
        "a conflict copy",
        copy_to(LOG, "memory/2025-02-26 (冲突).md"),
        "conflict-copy",
        "memory/2025-02-26 (冲突).md",
        0,
    ),
    (
        "workspace",
        "a sync conflict",
        copy_to(LOG, "memory/2025-02-26.sync-conflict-1.md"),
        "conflict-copy",
        "memory/2025-02-26.sync-conflict-1.md",
        0,
    ),
    ("workspace", "a temp file", added("memory/.~2025-02-26.md", b""), "conflict-copy", "memory/.~2025-02-26.md", 0),
    ("workspace", "a day outside", outside(LOG), "link-outside", LOG, 0),
    ("workspace", "a dangling link", linked(LOG, "nowhere.md"), "unreadable", LOG, 0),
    ("workspace", "an index older than a log", synced(appended(LOG, "- 茶凉了\n")), "index-stale", INDEX, 0),
    ("workspace", "an index without a new log", synced(added("memory/2025-02-23.md", "- 茶凉了\n")), "index-stale", INDEX, 0),
    ("workspace", "an index of a log that is gone", synced(removed("memory/2025-02-20.md")), "index-stale", INDEX, 0),
    ("workspace", "an index cut short", synced(changed(INDEX, lambda x: x[: len(x) // 2])), "index-broken", INDEX, 0),
    ("workspace", "an index of no bytes", added(INDEX, b""), "index-broken", INDEX, 0),
    ("workspace", "an index of text", added(INDEX, b"no database at all\n" * 99), "index-broken", INDEX, 0),
    ("workspace", "another program's index", foreign(INDEX), "index-broken", INDEX, 0),
    ("workspace", "a stored entry below Forgotten", appended(MEMORY, KEPT), "stored-under-forgotten", MEMORY, None),
    (
        "workspace",
        "nothing stored since something was forgotten",
        changed(MEMORY, lambda x: re.sub(b"(?m)^- 2025-02-(?:17|2.)T.*\n", b"", x) + KEPT.replace("[钥匙] ", "").encode()),
        "stored-under-forgotten",
        MEMORY,
        None,
    ),
    # the layers
    ("layers", "a list line without a time", appended(COLD, "- 分到六个咸鸭蛋\n"), "entry-invisible", COLD, None),
    ("layers", "an indented entry", appended(COLD, f"  {STAMPED}茶\n"), "entry-invisible", COLD, None),
    ("layers", "a star", appended(COLD, f"* {STAMPED[2:]}茶\n"), "entry-invisible", COLD, None),
    ("layers", "a time without zone", appended(COLD, "- [2025-02-04T08:00:00] [-] 茶\n"), "entry-invisible", COLD, None),
    ("layers", "an impossible time", appended(COLD, "- [2025-02-30T08:00:00Z] [-] 茶\n"), "entry-invisible", COLD, None),
    ("layers", "an entry without text", appended(COLD, "- [2025-02-04T08:00:00.000Z] [-]\n"), "entry-invisible", COLD, None),
    (
        "layers",
        "list lines alone",
        added("cold/2025-02/2025-02-05.md", "- 茶\n"),
        "entry-invisible",
        "cold/2025-02/2025-02-05.md",
        1,
    ),
    (
        "layers",
        "a candidate without a time",
        swap("hot.md", "<!-- candidates:end", "- 手帕\n<!-- candidates:end"),
        "entry-invisible",
        "hot.md",
        None,
    ),
    ("layers", "a topic with a colon", swap("hot.md", "茶室|2024-12", "茶室：2024-12"), "topic-ignored", "hot.md", None),
    ("layers", "a topic of month 13", swap("hot.md", "茶室|2024-12", "茶室|2024-13"), "topic-ignored", "hot.md", None),
    ("layers", "a topic without a name", swap("hot.md", "茶室|2024-12", "|2024-12"), "topic-ignored", "hot.md", None),
    ("layers", "no end of topics", swap("hot.md", "<!-- topics:end -->\n", ""), "hot-broken", "hot.md", None),
    (
        "layers",
        "no end of topics, and text below",
        swap("hot.md", "<!-- topics:end -->", "晚点再补\n写完了"),
        "hot-broken",
        "hot.md",
        None,
    ),
    ("layers", "no end of candidates", swap("hot.md", "<!-- candidates:end -->\n", ""), "hot-broken", "hot.md", None),
    ("layers", "no start of topics", swap("hot.md", "<!-- topics:start -->\n", ""), "hot-broken", "hot.md", None),
    ("layers", "no start of candidates", swap("hot.md", "<!-- candidates:start -->\n", ""), "hot-broken", "hot.md", None),
    (
        "layers",
        "a merge in hot",
        swap("hot.md", "**记得**", "<<<<<<< a\n茶\n=======\n水\n>>>>>>> b\n**记得**"),
        "merge-marker",
        "hot.md",
        None,
    ),
    (
        "layers",
        "a merge among the topics",
        swap("hot.md", "茶室|2024-12", "<<<<<<< a\n茶室|2024-12\n=======\n水|2024-12\n>>>>>>> b"),
        "merge-marker",
        "hot.md",
        None,
    ),
    (
        "layers",
        "a merge among the candidates",
        swap("hot.md", "<!-- candidates:end", f"<<<<<<< a\n{STAMPED}茶\n=======\n{STAMPED}水\n>>>>>>> b\n<!-- candidates:end"),
        "merge-marker",
        "hot.md",
        None,
    ),
    (
        "layers",
        "a month's topics struck",
        changed("hot.md", lambda x: re.sub(b"(?m)^.*2025-01\n", b"", x)),
        "month-untopiced",
        "hot.md",
        0,
    ),
    (
        "layers",
        "two months' topics struck",
        changed("hot.md", lambda x: re.sub(b"(?m)^.*202(?:4-12|5-01)\n", b"", x)),
        "month-untopiced",
        "hot.md",
        0,
    ),
    (
        "layers",
        "a topic of an empty month",
        swap("hot.md", "茶室|2024-12", "茶室|2024-12\n茶室|2024-10"),
        "topic-empty",
        "hot.md",
        None,
    ),
    (
        "layers",
        "two topics of an empty month",
        swap("hot.md", "茶室|2024-12", "茶室|2024-12\n茶室|2024-10\n火锅|2024-10"),
        "topic-empty",
        "hot.md",
        None,
    ),
    (
        "layers",
        "a topic of a month to come",
        swap("hot.md", "茶室|2024-12", "茶室|2024-12\n开业|2025-03"),
        "topic-empty",
        "hot.md",
        None,
    ),
    (
        "layers",
        "a candidate of the year before",
        swap("hot.md", "- [2025-02-16T", "- [2024-12-16T"),
        "candidate-old",
        "hot.md",
        None,
    ),
    (
        "layers",
        "a candidate of 31 days",
        swap("hot.md", "- [2025-02-16T09", "- [2025-01-28T09"),
        "candidate-old",
        "hot.md",
        None,
    ),
    (
        "layers",
        "two old candidates",
        changed("hot.md", lambda x: x.replace(b"- [2025-02-", b"- [2025-01-")),
        "candidate-old",
        "hot.md",
        None,
    ),
    ("layers", "601 characters", lambda root: body_of(601)(root), "hot-over-limit", "hot.md", 0),
    ("layers", "a body far too long", swap("hot.md", "**记得**", "一二三四五" * 100), "hot-over-limit", "hot.md", 0),
    (
        "layers",
        "an entry of another day",
        appended("cold/2025-02/2025-02-28.md", "- [2025-02-10T08:00:00.000Z] [-] 茶凉了\n"),
        "partition-mismatch",
        "cold/2025-02/2025-02-28.md",
        None,
    ),
    ("layers", "an entry of another year", swap(COLD, "2025-02-04T06", "2024-02-04T06"), "partition-mismatch", COLD, 4),
    ("layers", "an entry of the day after next", swap(COLD, "2025-02-04T06", "2025-02-06T06"), "partition-mismatch", COLD, 4),
    (
        "layers",
        "a file under another day's name",
        added("cold/2025-02/2025-02-07.md", f"{STAMPED}茶凉了\n"),
        "partition-mismatch",
        "cold/2025-02/2025-02-07.md",
        1,
    ),
    ("layers", "a BOM in hot", before("hot.md", b"\xef\xbb\xbf"), "bom", "hot.md", 1),
    ("layers", "a BOM", before(COLD, b"\xef\xbb\xbf"), "bom", COLD, 1),
    ("layers", "a bad byte", appended(COLD, STAMPED.encode() + b"\xff\n"), "not-utf8", COLD, None),
    ("layers", "a UTF-16 tail", appended(COLD, f"{STAMPED}茶\r\n".encode("utf-16-le")), "mixed-encoding", COLD, None),
    ("layers", "an ESC", appended(COLD, f"{STAMPED}\x1b[31m红\n"), "control-character", COLD, None),
    (
        "layers",
        "a merge",
        appended(COLD, f"<<<<<<< a\n{STAMPED}茶\n=======\n{STAMPED}水\n>>>>>>> b\n"),
        "merge-marker",
        COLD,
        None,
    ),
    (
        "layers",
        "a folder of the wrong month",
        moved(COLD, "cold/2025-01/2025-02-04.md"),
        "wrong-month-folder",
        "cold/2025-01/2025-02-04.md",
        0,
    ),
    (
        "layers",
        "a day in two folders",
        copy_to(COLD, "cold/2025-01/2025-02-04.md"),
        "same-day-twice",
        "cold/2025-01/2025-02-04.md",
        0,
    ),
    ("layers", "a week 53", added("summaries/week/2025-W53.md", "# x\n"), "bad-week", "summaries/week/2025-W53.md", 0),
    ("layers", "a week without W", added("summaries/week/2025-07.md", "# x\n"), "bad-week", "summaries/week/2025-07.md", 0),
    ("layers", "a summary of no day", added("summaries/day/昨天.md", "# x\n"), "not-a-day", "summaries/day/昨天.md", 0),
    (
        "layers",
        "a summary's conflict copy",
        added("summaries/week/2025-W06 (conflicted copy).md", "# x\n"),
        "conflict-copy",
        "summaries/week/2025-W06 (conflicted copy).md",
        0,
    ),
    (
        "layers",
        "a conflict copy",
        copy_to(COLD, "cold/2025-02/2025-02-04 (冲突).md"),
        "conflict-copy",
        "cold/2025-02/2025-02-04 (冲突).md",
        0,
    ),
    (
        "layers",
        "a hot conflict copy",
        copy_to("hot.md", "hot.sync-conflict-1.md"),
        "conflict-copy",
        "hot.sync-conflict-1.md",
        0,
    ),
    ("layers", "a note in cold", added("cold/2025-02/notes.md", "x\n"), "not-a-day", "cold/2025-02/notes.md", 0),
    (
        "layers",
        "an impossible day",
        added("cold/2025-02/2025-02-30.md", "x\n"),
        "impossible-date",
        "cold/2025-02/2025-02-30.md",
        0,
    ),
    (
        "layers",
        "a day without entries",
        added("cold/2025-02/2025-02-05.md", "# 2025-02-05\n"),
        "empty-day",
        "cold/2025-02/2025-02-05.md",
        0,
    ),
    (
        "layers",
        "a day to come",
        added("cold/2025-03/2025-03-15.md", f"{STAMPED}茶\n"),
        "future-date",
        "cold/2025-03/2025-03-15.md",
        0,
    ),
    ("layers", "an entry added to a day that was summed up", appended(COLD, f"{STAMPED}茶\n"), "summary-stale", SUMMED, 0),
    ("layers", "an entry struck from a day that was summed up", struck(COLD), "summary-stale", SUMMED, 0),
    ("layers", "a sentence of nobody in a day's summary", appended(SUMMED, f"{STAMPED}猫会说话\n"), INVENTED, SUMMED, None),
    ("layers", "an entry of another day in a summary", appended(SUMMED, OTHER_DAY), INVENTED, SUMMED, None),
    ("layers", "a sentence of nobody in a month", appended(MONTH, f"{STAMPED}猫会说话\n"), INVENTED, MONTH, None),
    ("layers", "a week that keeps all its entries", filled("2024-W51"), "summary-over-budget", "summaries/week/2024-W51.md", 0),
    ("layers", "a day without its summary", gone(SUMMED), "summary-missing", SUMMED, 0),
    (
        "layers",
        "a week without its summary",
        gone("summaries/week/2025-W02.md"),
        "summary-missing",
        "summaries/week/2025-W02.md",
        0,
    ),
    ("layers", "a month without its summary", gone(MONTH), "summary-missing", MONTH, 0),
    (
        "layers",
        "a year typo",
        added("cold/2024-02/2024-02-05.md", f"{STAMPED}茶\n"),
        "date-outlier",
        "cold/2024-02/2024-02-05.md",
        0,
    ),
]


@pytest.mark.parametrize(
    ("layout", "plant", "rule", "path", "line"),
    [(layout, plant, *expected) for layout, _, plant, *expected in PLANTS],
    ids=[f"{layout}: {fault}" for layout, fault, *_ in PLANTS],
)
def test_a_planted_fault_has_exactly_one_finding(copied, layout, plant, rule, path, line):
    vault = copied(layout)
    plant(vault / STORES[layout])
    report = open_at(vault, layout=layout).audit()
    assert [row[:2] for row in found(report)] == [(rule, path)]
    row = report.frame.iloc[0]
    assert row["line"] == line if line is not None else row["line"] > 0
    assert row["message"]


def test_the_planted_faults_reach_every_rule_but_the_transcripts():
    assert {rule for *_, rule, _, _ in PLANTS} == set(ALL_RULES) - {"transcript-bad"} - AGAINST


# ---- what is no fault ----

MANY = [f"第 {number} 杯给了 {number * 7} 号客人，他说比上一杯好" for number in range(30)]
HARMLESS = [
    ("archive", "no clause is the phrase alone", longer("；进行了讨论的是锅底")),
    (
        "archive",
        "an entry that is the phrase",
        lambda root: (appended(DAY, "- 进行了讨论\n")(root), longer("；进行了讨论")(root)),
    ),
    ("archive", "a number in words", lambda root: (appended(DAY, "- 三十二把椅子\n")(root), longer("；32 把椅子")(root))),
    ("archive", "a number in full width", longer("；１８ 个咸鸭蛋")),
    (
        "archive",
        "thousands without a comma",
        lambda root: (appended(DAY, "- 花了 17,500 元\n")(root), longer("；17500 元")(root)),
    ),
    ("archive", "thousands in 万", lambda root: (appended(DAY, "- 花了 17,500 元\n")(root), longer("；花了 1.75 万元")(root))),
    ("archive", "an afternoon", lambda root: (appended(DAY, "- 下午三点半开门\n")(root), longer("；15:30 开门")(root))),
    ("archive", "the day's own date", longer("；2025-02-03 回店")),
    (
        "archive",
        "tomorrow by its date",
        lambda root: (appended(DAY, "- 明天交税表\n")(root), longer("；2 月 4 日交税表")(root)),
    ),
    (
        "archive",
        "a Latin word in other case",
        lambda root: (appended(DAY, "- 用 KETTLE 烧水\n")(root), longer("；Kettle 烧水")(root)),
    ),
    ("archive", "clauses that are numbered", longer("；1. 老顾瘦了；2. 老顾过年")),
    ("archive", "a clause of what was forgotten", longer("；墙漆三桶 567 元，Kepler 选的")),
    ("archive", "an entry of one sign", appended(DAY, "- 🍵\n")),
    (
        "archive",
        "an entry named in other width",
        lambda root: (appended(DAY, "- ＫＥＴＴＬＥ\n")(root), longer("；kettle")(root)),
    ),
    ("archive", "an entry named without its blank", lambda root: (appended(DAY, "- 第 5 杯\n")(root), longer("；第5杯")(root))),
    ("archive", "an entry named by its tag", lambda root: (appended(DAY, "- [合唱团] 周五\n")(root), longer("；合唱团")(root))),
    (
        "archive",
        "a short body, copied",
        lambda root: (write(root, DAY, "\n".join(LONG_DAY.split("\n")[:8]) + "\n"), reindexed(COPY[:152])(root)),
    ),
    (
        "archive",
        "a long day as extraction gives it",
        lambda root: (
            write(root, DAY, day("2025-02-03", *MANY)),
            reindexed(extract(MANY))(root),
        ),
    ),
    (
        "workspace",
        "an entry in eleven days",
        lambda root: [appended(path, "\n- 关灯，锁门，钥匙挂回去\n")(root) for path in DAYS[1:]],
    ),
    ("workspace", "a short entry twice", appended(LOG, "\n- 茶凉了\n- 茶凉了\n")),
    (
        "workspace",
        "the same text under another tag",
        appended(LOG, "\n- [茶室] 水开了就关火，别等它唱\n- [家] 水开了就关火，别等它唱\n"),
    ),
    (
        "workspace",
        "what was stored, forgotten",
        appended(
            MEMORY, "- 2025-02-28T02:00:00.000Z 红水壶，85 元，南河旧货市场。哨子是 A。小满抱着它坐了七站公交，像抱着一只鸡。\n"
        ),
    ),
    ("workspace", "a gist in other words", appended(MEMORY, "- 2025-02-28T02:00:00.000Z 贵的那版价目\n")),
    (
        "workspace",
        "files that are not read",
        lambda root: [added(f"memory/{name}", "{}")(root) for name in ("state.json", "State.json")],
    ),
    ("workspace", "an index as new as its files", synced()),
    ("workspace", "an index of files that were only touched", synced(lambda root: os.utime(root / LOG, (0, 0)))),
    *[("workspace", f"no secret: {name}", appended(LOG, f"\n- 记一下 {value}\n")) for name, value in NO_SECRETS.items()],
    ("layers", "600 characters", body_of(600)),
    ("layers", "a candidate of 30 days", swap("hot.md", "- [2025-02-16T09", "- [2025-01-29T09")),
    ("layers", "no topics at all", changed("hot.md", lambda x: re.sub(b"(?m)^.*\\|20.*\n", b"", x))),
    ("layers", "this month without a topic", changed("hot.md", lambda x: re.sub(b"(?m)^.*2025-02\n", b"", x))),
]
JOURNEYS = [
    "2025-02-27T10:00:00.000Z",
    "2025-02-28T00:00:00.000+14:00",
    "2025-03-01T11:59:59.000Z",
    "2025-02-28T23:59:59.000-12:00",
]


@pytest.mark.parametrize(
    ("layout", "plant"), [(at, plant) for at, _, plant in HARMLESS], ids=[f"{at}: {name}" for at, name, _ in HARMLESS]
)
def test_what_looks_like_a_fault_and_is_none_has_no_finding(copied, layout, plant):
    vault = copied(layout)
    plant(vault / STORES[layout])
    assert found(open_at(vault, layout=layout).audit()) == []


@pytest.mark.parametrize("stamp", JOURNEYS)
def test_an_entry_of_a_journey_is_in_the_file_of_its_day(copied, stamp):
    vault = copied("layers")
    appended("cold/2025-02/2025-02-28.md", f"- [{stamp}] [-] 茶凉了\n")(vault / STORES["layers"])
    assert found(open_at(vault).audit()) == []


def test_a_topic_of_this_month_may_come_before_its_first_entry(copied):
    vault = copied("layers")
    swap("hot.md", "茶室|2024-12", "茶室|2024-12\n开业|2025-03")(vault / STORES["layers"])
    later = "2025-03-01T09:00+08:00"
    assert found(open_at(vault, now=later).audit()) == found(open_at(SAMPLES / "layers", now=later).audit())


def test_the_limit_of_the_hot_body_is_the_stores(copied):
    vault = copied("layers")
    assert found(open_at(vault, hot_limit=100).audit()) == [("hot-over-limit", "hot.md", 0)]
    body_of(601)(vault / STORES["layers"])
    assert found(open_at(vault, hot_limit=601).audit()) == []


def test_a_stale_index_names_the_files_and_another_place_counts_too(copied, tmp_path):
    root = copied("workspace")
    elsewhere = tmp_path / "elsewhere.sqlite"
    open_at(root, index=elsewhere).sync()
    appended(LOG, "- 茶凉了\n")(root)
    report = open_at(root, index=elsewhere).audit()
    assert found(report) == [("index-stale", str(elsewhere), 0)]
    assert LOG in report.frame["message"].iloc[0]
    assert report.frame["fix"].iloc[0] == "sync()"
    assert found(open_at(root).audit()) == []


def test_another_programs_index_is_told_and_not_touched(copied):
    root = copied("workspace")
    foreign(INDEX)(root)
    held = read(root, INDEX)
    report = open_at(root).audit()
    assert "another program" in report.frame["message"].iloc[0]
    assert "MEMORY_INDEX_PATH" in report.frame["fix"].iloc[0]
    assert read(root, INDEX) == held


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("…关灯，锁门，钥匙挂回去", "...关灯,锁门,钥匙挂回去"),
        ("ＫＥＴＴＬＥ kettle KETTLE", "kettle kettle kettle"),
        ("caf\u00e9 by the station, early", "cafe\u0301 by the station, early"),
        (
            "\ud55c\uad6d\uc5b4 \uc218\uc5c5\uc740 \ud654\uc694\uc77c",
            unicodedata.normalize("NFD", "\ud55c\uad6d\uc5b4 \uc218\uc5c5\uc740 \ud654\uc694\uc77c"),
        ),
    ],
)
def test_duplicates_are_found_in_whatever_form_they_are_written(tmp_path, one, other):
    write(tmp_path, LOG, f"- {one}\n- something else\n- {other}\n")
    report = open_at(tmp_path).audit()
    assert found(report) == [("duplicates", LOG, 1)]
    assert report.frame["message"].iloc[0] == f"a text stands 2 times, in {LOG}"


def test_many_duplicates_are_one_finding_with_a_count(tmp_path):
    lines = [f"- something that is said again, number {number % 9}\n" for number in range(27)]
    write(tmp_path, LOG, "".join(lines) + "- said once, and only once\n")
    report = open_at(tmp_path).audit()
    assert found(report) == [("duplicates", LOG, 1)]
    assert report.frame["message"].iloc[0] == f"9 texts stand 27 times, one of them 3 times, in {LOG}"


@pytest.mark.parametrize("name", SECRETS)
def test_a_secret_is_shown_as_a_mask(tmp_path, name):
    value = SECRETS[name]
    write(tmp_path, LOG, f"- 记一下 {value} 和别的\n")
    write(tmp_path, MEMORY, f"- 又是 {value} 和别的\n")
    report = open_at(tmp_path).audit()
    assert found(report) == [("secret", LOG, 1)]
    message = report.frame["message"].iloc[0]
    assert f"{value[:4]}…" in message
    assert MEMORY in message
    for shown in (str(report), report.frame.to_csv(), report._repr_mimebundle_()["text/html"]):
        assert not [value[at : at + 6] for at in range(len(value) - 5) if value[at : at + 6] in shown]


def test_no_other_fault_of_its_file_hides_a_secret(tmp_path):
    write(tmp_path, LOG, b"\xef\xbb\xbf" + f"- {SECRETS['GitHub']}\n".encode())
    assert found(open_at(tmp_path).audit()) == [("bom", LOG, 1), ("secret", LOG, 1)]


def test_secrets_of_two_files_are_two_findings(tmp_path):
    write(tmp_path, LOG, f"- {SECRETS['GitHub']}\n- {SECRETS['npm']}\n")
    report = open_at(tmp_path).audit()
    assert found(report) == [("secret", LOG, 1), ("secret", LOG, 2)]
    assert report.frame["fingerprint"].nunique() == 2


@pytest.mark.parametrize("layout", STORES)
def test_what_memkit_writes_has_no_finding(tmp_path, layout):
    mem = open_at(tmp_path, layout=layout)
    texts = [
        *MANY,
        "好。今天天气不错，小满没有说话",
        "2**10 是 1024",
        "进行了讨论",
        "```python\nprint(7)\n```",
        "第一行\n- 第二行 `code`",
        "**红水壶**：降 B",
    ]
    for text in texts:
        mem.append(text, tag="计划" if "杯" in text else None)
    mem.correct("2025-02-27", "开业日期", "3 月 15 日")
    if layout == "workspace":
        mem.store("备用钥匙在宋阿姨那里", tag="钥匙")
        mem.mark_forgotten("备用钥匙在宋阿姨那里")
        mem.sync()
    if layout == "layers":
        mem.hot_set("红水壶不收柜子")
        mem.topics_add("红水壶", "2025-02")
        mem.append("记得带擦手布", important=True)
    assert found(open_at(tmp_path, layout=layout).audit()) == []
    later = open_at(tmp_path, layout=layout, now="2025-03-20T09:00+08:00")
    later.catch_up() if layout == "archive" else None
    later.summarize_all("week") if layout == "layers" else None
    assert [row for row in found(later.audit()) if row[0] != "summary-missing"] == []


# ---- what silences what ----

SPOILS = {  # in the order of the design; each leaves room for those below it
    "mixed-encoding": appended(DAY, "- blue cup, 坏钟角\r\n".encode("utf-16-le")),
    "not-utf8": appended(DAY, b"- \xff\n"),
    "bom": before(DAY, b"\xef\xbb\xbf"),
    "control-character": appended(DAY, "- \x1b[31m\n"),
    "merge-marker": appended(DAY, MERGE_BODY),
    "yaml-invalid": index("index: Kepler: 决定"),
    "index-duplicate-key": index("index: '红水壶'\nindex: '坏钟角'"),
    "index-not-one-line": index("index: '红水壶\t降 B'"),
    "index-unquoted": index("index: 红水壶"),
    "index-hidden": before(DAY, b"\n"),
    "index-missing": index("index:"),
    "date-mismatch": swap(DAY, "date: 2025-02-03", "date: 2025-02-04"),
}
ONE_LINE = {"yaml-invalid", *(rule for rule in SPOILS if rule.startswith("index-") and rule != "index-hidden")}
PAIRS = [
    (graver, other)
    for place, graver in enumerate(SPOILS)
    for other in list(SPOILS)[place + 1 :]
    if not {graver, other} <= ONE_LINE
]


@pytest.fixture
def archive(copied):
    vault = copied("archive")
    return vault, vault / STORES["archive"]


def test_rules_that_silence_run_first_and_in_the_order_of_the_design():
    encoding = ["mixed-encoding", "not-utf8", "bom", "control-character"]
    assert [*SILENCING][:3] == ["unreadable", "too-large", "link-outside"]
    assert [*SILENCING][3:6] == ["missing-file", "emptied-day", "frozen-changed"]
    assert [*SILENCING][6:13] == [*encoding, "merge-marker", "conflict-copy", "yaml-invalid"]
    assert [rule for rule in SILENCING if rule.startswith("index-")] == [*SILENCING][13:-1]
    for layout in STORES:
        names = [rule.name for rule in rules_of(layout)]
        held = [rule for rule in SILENCING if rule in names]
        assert names[: len(held)] == held


@pytest.mark.parametrize(("graver", "other"), PAIRS)
def test_the_graver_of_two_faults_in_one_file_is_told(archive, graver, other):
    vault, root = archive
    SPOILS[other](root)
    SPOILS[graver](root)
    assert [row[:2] for row in found(open_at(vault).audit())] == [(graver, DAY)]


@pytest.mark.parametrize("rule", list(SPOILS)[:-1])
def test_the_catalog_row_of_a_damaged_day_is_silent_and_other_rows_are_not(archive, rule):
    vault, root = archive
    SPOILS[rule](root)
    rows(C25, lambda lines: [f"{line}旧" if line[:10] in ("2025-02-03", "2025-02-05") else line for line in lines])(root)
    report = open_at(vault).audit()
    assert [row[:2] for row in found(report)] == [(rule, DAY), ("row-differs", C25)]
    assert report.frame["date"].iloc[1].date() == date(2025, 2, 5)


@pytest.mark.parametrize("rule", list(SPOILS)[:-1])
def test_a_damaged_day_is_not_told_again_as_missing_from_the_catalog(tmp_path, rule):
    write(tmp_path, DAY, day("2025-02-03", "钥匙在宋阿姨那里", index="钥匙"))
    assert [row[0] for row in found(open_at(tmp_path).audit())] == ["row-missing"]
    SPOILS[rule](tmp_path)
    assert [row[0] for row in found(open_at(tmp_path).audit())] == [rule]


def test_a_damaged_catalog_silences_no_day(archive):
    vault, root = archive
    before(C25, b"\xef\xbb\xbf")(root)
    SPOILS["date-mismatch"](root)
    rows(C25, lambda lines: lines[:-1])(root)
    assert [row[:2] for row in found(open_at(vault).audit())] == [("date-mismatch", DAY), ("bom", C25)]


def test_the_summaries_of_a_damaged_day_are_silent(copied):
    vault = copied("layers")
    root = vault / STORES["layers"]
    for path in (COLD, "summaries/week/2025-W06.md", "summaries/week/2025-W07.md"):
        write(root, path, b"\xef\xbb\xbf" + read(root, path) + b"\x1b\n")
    # One rule may speak of all three; what comes after it is silent about the day, and its week.
    assert [row[:2] for row in found(open_at(vault).audit())] == [
        ("bom", COLD),
        ("bom", "summaries/week/2025-W06.md"),
        ("bom", "summaries/week/2025-W07.md"),
    ]
    write(root, "summaries/week/2025-W06.md", read(root, "summaries/week/2025-W06.md")[3:])
    assert ("control-character", "summaries/week/2025-W06.md") not in [row[:2] for row in found(open_at(vault).audit())]


def test_faults_of_different_files_are_all_told(archive):
    vault, root = archive
    SPOILS["bom"](root)
    rows(C25, lambda lines: [line for line in lines if not line.startswith("2025-02-05")])(root)
    added("archive/2025/notes.md", b"- x\n")(root)
    assert [row[0] for row in found(open_at(vault).audit())] == ["bom", "not-a-day", "row-missing"]


def test_faults_of_one_catalog_have_a_code_each(sixty):
    ruined = ["2025-01-10\t第 25 杯", "2024-12-31\t去年的", "没有制表符", "2025-03-09\t还没到", "2025-02-20\t鬼"]
    rows(C25, lambda lines: [lines[1], lines[0], f"{lines[2]}旧", *lines[4:], *ruined])(sixty)
    told = {row[0]: row[2] for row in found(open_at(sixty).audit())}
    assert told == {
        "catalog-unsorted": 2, "row-differs": 3, "row-missing": 0, "row-duplicate": 44, "row-wrong-year": 45,
        "row-malformed": 46, "row-too-early": 47, "ghost-row": 48,
    }  # fmt: skip
    assert len(open_at(sixty).audit().frame) == len(told)


@pytest.mark.parametrize(("torn", "missing"), [(1, 0), (1, 1), (2, 1)])
def test_a_torn_line_accounts_for_one_missing_row_in_its_place(sixty, torn, missing):
    rows(C25, lambda lines: [*lines[:5], *["豆包踩过"] * torn, *lines[5 + torn + missing :]])(sixty)
    told = [row[0] for row in found(open_at(sixty).audit())]
    assert told == ["row-missing"] * missing + ["row-malformed"] * torn


@pytest.fixture
def sixty(tmp_path):
    """Return the root of a store of sixty days without a fault."""
    days = [date(2024, 12, 16) + timedelta(number) for number in range(60)]
    for number, held in enumerate(days):
        write(tmp_path, f"archive/{held.year}/{held}.md", day(held, f"第 {number} 杯，没洒", index=f"第 {number} 杯"))
        (tmp_path / "catalog").mkdir(exist_ok=True)
        with (tmp_path / f"catalog/{held.year}.tsv").open("a", encoding="utf-8") as catalog:
            catalog.write(f"{held}\t第 {number} 杯\n")
    return tmp_path


@pytest.mark.parametrize("rule", [*list(SPOILS)[:-1], "unreadable", "too-large", "link-outside"])
def test_one_bad_file_costs_one_finding_and_no_row_of_another(sixty, rule):
    clean = open_at(sixty).entries()
    assert len(clean) == 60
    assert found(open_at(sixty).audit()) == []
    spoil = {"unreadable": linked(DAY, "nowhere.md"), "too-large": sparse(DAY), "link-outside": outside(DAY), **SPOILS}[rule]
    spoil(sixty)
    mem = open_at(sixty)
    assert [row[:2] for row in found(mem.audit())] == [(rule, DAY)]
    others = mem.entries().query("path != @DAY").reset_index(drop=True)
    assert others.equals(clean.query("path != @DAY").reset_index(drop=True))


# ---- the report ----


def test_a_fingerprint_stays_when_lines_shift(archive):
    vault, root = archive
    appended(DAY, MERGE_BODY)(root)
    first = open_at(vault).audit().frame.iloc[0]
    swap(DAY, "## 2025-02-03\n", "## 2025-02-03\n- 插进来的一行\n")(root)
    second = open_at(vault).audit().frame.iloc[0]
    assert second["line"] == first["line"] + 1
    assert second["fingerprint"] == first["fingerprint"]


def test_a_row_keeps_its_fingerprint_when_lines_shift(archive):
    vault, root = archive
    appended(C25, "2025-01-03\t鬼\n")(root)
    first = open_at(vault).audit().frame.iloc[0]
    rows(C25, lambda lines: ["", *lines])(root)
    second = open_at(vault).audit().frame.iloc[0]
    assert second["line"] == first["line"] + 1
    assert second["fingerprint"] == first["fingerprint"]


def test_a_fingerprint_differs_by_path_rule_and_text(copied):
    root = copied("layers") / STORES["layers"]
    for path in (COLD, "cold/2025-02/2025-02-06.md"):
        appended(path, "- 茶\n- 水\n")(root)
    marks = open_at(root).audit().frame["fingerprint"]
    assert len(marks) == marks.nunique() == 4
    same_path = [audit_of(BROKEN / rule).frame["fingerprint"].iloc[0] for rule, at in BROKEN_AT.items() if at[0] == DAY]
    assert len(same_path) == len(set(same_path)) > 5


def test_each_missing_row_has_a_fingerprint_of_its_own(archive):
    vault, root = archive
    rows(C25, lambda lines: lines[:5] + lines[7:])(root)
    assert open_at(vault).audit().frame["fingerprint"].nunique() == 2


@pytest.mark.parametrize("rule", sorted(BROKEN_AT))
def test_a_row_has_the_verb_that_mends_it(rule):
    fix = audit_of(BROKEN / rule).frame["fix"].iloc[0]
    if rule.startswith(("row-", "ghost-", "catalog-")):
        assert fix == "rebuild_catalog(2025)"
    else:
        assert rule == "empty-day" or fix


@pytest.mark.parametrize("name", ["archive", "layers", "workspace", "broken/bom", "broken/empty-day", "broken/row-missing"])
def test_findings_have_the_columns_of_the_schema(name):
    frame = audit_of(SAMPLES / name).frame
    assert dict(frame.dtypes) == schema.FINDINGS
    assert list(frame) == list(schema.FINDINGS)


@pytest.mark.parametrize("layout", STORES)
def test_an_empty_store_has_no_finding(tmp_path, layout):
    report = open_at(tmp_path, layout=layout).audit()
    assert found(report) == []
    assert dict(report.frame.dtypes) == schema.FINDINGS
    assert report.checked == 0


def test_findings_come_by_path_and_line(copied):
    root = copied("layers") / STORES["layers"]
    appended(COLD, "- 茶\n- 水\n")(root)
    before(DAY_BEFORE := "cold/2024-12/2024-12-28.md", b"- x\n")(root)
    told = [row[1:] for row in found(open_at(root).audit())]
    assert told == sorted(told)
    assert told[0] == (DAY_BEFORE, 1)


def test_a_mended_store_has_no_finding_any_more(archive):
    vault, root = archive
    mem = open_at(vault)
    kept = read(root, DAY)
    SPOILS["bom"](root)
    assert [row[0] for row in found(mem.audit())] == ["bom"]
    write(root, DAY, kept)
    assert found(mem.audit()) == []


def test_today_is_the_clocks_day_in_the_stores_zone():
    vault = SAMPLES / "archive"
    assert found(open_at(vault, now="2025-02-28T23:59:59+08:00").audit()) == []
    assert found(open_at(vault, now="2025-02-28T16:00:01Z").audit()) == [("row-missing", C25, 0)]
    assert found(open_at(vault, now="2025-02-27T23:00+08:00").audit())[0][0] == "future-date"


def test_harmless_neighbours_are_no_fault(copied):
    root = copied("workspace")
    for path in ("memory/state.json", "memory/2025-02-01.md.bak", "memory/.DS_Store", "memory/YYYY-MM-DD.md", "memory/run.pid"):
        write(root, path, b"{}")
    linked("memory/latest.json", "nowhere.json")(root)
    os.mkfifo(root / "memory/agent.pipe")
    assert found(open_at(root).audit()) == []


def test_the_text_of_a_memory_is_never_in_a_message():
    for store in sorted(BROKEN.iterdir()):
        session = store / "session.jsonl"
        mem = open_at(store, **({"session": session} if session.exists() else {}))
        said = " ".join(mem.audit().frame[["message", "fix"]].fillna("").to_numpy().ravel())
        texts = [*mem.entries()["text"], *mem.catalog()["index"].dropna(), *mem.days()["index"].dropna()]
        assert not [text for text in texts if text in said], store.name


def test_a_secret_in_a_broken_line_is_never_in_a_message(tmp_path):
    secret = "sk-live-0123456789abcdef"
    write(tmp_path, DAY, f"---\ndate: {secret * 2}\nindex: {secret}: {secret}\n---\n- \x1b{secret}\n{LOCAL}{secret}\n")
    write(tmp_path, C25, f"{secret}\n2025-02-03 {secret}\n2025-01-01\t{secret}\n")
    report = open_at(tmp_path).audit()
    assert len(report.frame) > 2
    assert secret not in str(report) + report.frame.to_csv() + report._repr_mimebundle_()["text/html"]


# ---- reading changes nothing ----


def state(root):
    paths = sorted(root.rglob("*"))
    return {
        path: (path.stat().st_mtime_ns, path.stat().st_mode, sha256(path.read_bytes()).hexdigest() if path.is_file() else "")
        for path in (root, *paths)
    }


@pytest.mark.parametrize("name", [*STORES, *(f"broken/{rule}" for rule in sorted(BROKEN_AT))])
def test_an_audit_changes_no_byte_no_time_and_adds_no_file(copied, name):
    root = copied(name)
    held = state(root)
    audit_of(root)
    assert state(root) == held


def test_every_fact_of_the_samples_is_a_file_that_git_can_hold():
    assert not [path for path in BROKEN.rglob("*") if path.is_symlink() or (path.is_dir() and not any(path.iterdir()))]
