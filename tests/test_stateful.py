"""Random sequences of verbs against a model in plain Python: entries equal the model, no line is lost, the audit is silent."""

from __future__ import annotations

import shutil
import tempfile
from datetime import datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pandas as pd
import pytest
from conftest import ZONE, open_at
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule, run_state_machine_as_test

from memkit.layouts import LAYOUTS

SETTINGS = settings(
    max_examples=30,
    stateful_step_count=14,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)
TEXTS = st.sampled_from(
    [
        "红水壶在窗台；壶嘴朝左",
        "花了 468 元。老顾说不贵",
        "it's Kepler: \"ginger\" 'tea' \\ 10:00",
        "豆包赢了！又赢了 3 条小鱼干",
        "## 不是标题",
        "<!-- candidates:end -->",
        "[x] 不是待办",
        "| a | b |",
        "周末 #旅行 去看海 [壶]",
        "开业日期",
        "开业日期改到 3 月 15 日",
        "~~~",
    ]
)
TAGS = st.sampled_from([None, "决定", "C++", "two words"])
PICK = st.integers(min_value=0, max_value=999)


class Verbs(RuleBasedStateMachine):
    """A store, and beside it what it must hold: (tag, text) by file, and the three regions of the hot layer."""

    layout = ""

    def __init__(self):
        super().__init__()
        self.root = Path(tempfile.mkdtemp(prefix="memkit-"))
        self.now = datetime(2024, 12, 30, 21, 30, tzinfo=ZoneInfo(ZONE))
        self.mem = open_at(self.root / "store", layout=self.layout, now=lambda: self.now)
        self.held: dict[str, list[tuple[str | None, str]]] = {}
        self.by_hand: dict[str, list[bytes]] = {}
        self.body, self.topics = "", []

    def teardown(self):
        shutil.rmtree(self.root)

    # ---- the model ----

    @property
    def today(self) -> str:
        return LAYOUTS[self.layout].day_path(self.now.date())

    def as_read(self, tag: str | None, text: str) -> tuple[str | None, str]:
        """Return an entry as the reader gives it: a task's sign goes in front of the tag, a `#tag` names one."""
        if self.layout == "layers":
            return tag, text
        if tag is None and self.layout == "archive":
            text = text.removeprefix("[x] ")
        return tag or ("旅行" if "#旅行" in text else None), text

    def expect(self, tag: str | None, text: str, path: str | None = None) -> int:
        """Add an entry to a file's end unless it stands there; return how many that are."""
        entry = self.as_read(tag, text)
        rows = self.held.setdefault(path or self.today, [])
        if entry in rows:
            return 0
        rows.append(entry)
        return 1

    def drop(self, place: str) -> None:
        """Take out the entry that stands at a place such as `path:line` now."""
        path, _, line = place.rpartition(":")
        frame = self.mem.entries()
        nth = frame.loc[frame["path"] == path, "line"].tolist().index(int(line))
        self.held[path][nth] = (None, "")

    def settle(self) -> None:
        self.held = {path: left for path, rows in self.held.items() if (left := [row for row in rows if row[1]])}

    # ---- the verbs ----

    @initialize()
    def begin(self):
        assert self.mem.append("第一条", dry_run=True).added == 1
        assert not self.mem.root.exists()

    @rule(text=TEXTS, tag=TAGS)
    def append(self, text, tag):
        twice = self.mem.append(text, tag, dry_run=True)
        assert self.mem.append(text, tag).added == self.expect(tag, text) == twice.added
        assert self.mem.append(text, tag).edits == ()

    @rule(texts=st.lists(st.tuples(TEXTS, TAGS), max_size=4))
    def append_many(self, texts):
        assert self.mem.append_many(texts).added == sum(self.expect(tag, text) for text, tag in texts)

    @rule(subject=TEXTS, text=TEXTS)
    def correct(self, subject, text):
        said = f"2024-12-30：{subject} → {text}"
        tag, said = ("更正", said) if self.layout == "layers" else (None, f"更正 {said}")
        assert self.mem.correct("2024-12-30", subject, text).added == self.expect(tag, said)

    @rule(hours=st.sampled_from([1, 5, 30, 24 * 40]))
    def time_passes(self, hours):
        self.now += timedelta(hours=hours)

    @rule(pick=PICK, leave=st.booleans())
    def forget(self, pick, leave):
        frame = self.mem.entries()
        if not len(frame):
            assert self.mem.forget("没有的").edits == ()
            return
        text = frame["text"].iloc[pick % len(frame)]
        plan = self.mem.forget(text)
        if leave and len(plan.rows) > 1:
            plan = plan.without(pick % sum(plan.rows["action"].isin(["forget"]) & plan.rows["row"].str.contains(r":\d+$")))
        asked = plan.rows[plan.rows["row"].str.contains(r":\d+$")]
        by_place = {f"{row.path}:{row.line}": row.text for row in frame.itertuples()}
        assert all(
            by_place[row.row] == text or "更正" in row.reason or "correction" in row.reason for row in asked.itertuples()
        )
        if not leave:
            assert {place for place, said in by_place.items() if said == text} <= set(asked["row"])
        for place in asked["row"]:
            self.drop(place)
        self.settle()
        plan.apply()

    @rule(pick=PICK, text=TEXTS, tag=TAGS, missing=st.booleans())
    def push(self, pick, text, tag, missing):
        frame = self.mem.entries(editable=True)
        new = pd.DataFrame({"text": [text], "tag": [tag]})
        pushed = pd.concat([frame.sample(frac=1, random_state=pick), new], ignore_index=True)
        gone = frame.iloc[[pick % len(frame)]] if missing and len(frame) else frame.iloc[:0]
        pushed = pushed[~pushed.set_index(["path", "line"]).index.isin(gone.set_index(["path", "line"]).index)]
        plan = self.mem.push(pushed, forget_missing=missing)
        for row in plan.rows.query("action == 'forget'").itertuples():
            self.drop(row.row)
        self.settle()
        plan.apply()
        self.expect(tag, text)
        again = self.mem.push(pushed)
        assert again.edits == ()
        assert set(again.rows["action"]) == {"unchanged"}

    @rule(pick=PICK)
    def push_a_change(self, pick):
        frame = self.mem.entries(editable=True)
        if not len(frame):
            return
        nth = pick % len(frame)
        old = frame.iloc[nth]
        frame.loc[frame.index[nth], "text"] = f"改成第 {pick} 种说法"
        plan = self.mem.push(frame)
        over = old["date"].date() < self.now.date()
        assert plan.rows["action"].iloc[nth] in (("correct", "unchanged") if over else ("refused",))
        plan.apply()
        if over:
            added = self.mem.entries().query("path == @self.today")
            said = f"→ 改成第 {pick} 种说法"
            found = [row for row in zip(added["tag"], added["text"], strict=True) if row[1].endswith(said)]
            assert found
            rows = self.held.setdefault(self.today, [])
            rows += [pair for tag, text in found if (pair := (tag if isinstance(tag, str) else None, text)) not in rows]

    @rule(line=st.sampled_from(["## 手写", "手写的一段", "> 手写", "", "<!-- 手写 -->"]))
    def somebody_writes_by_hand(self, line):
        path = self.mem.root / self.today
        if not path.exists():
            return
        path.write_bytes(path.read_bytes() + f"\n{line}\n".encode())
        self.by_hand.setdefault(self.today, []).append(line.encode())
        if line in ("手写的一段", "> 手写") and self.layout != "layers":
            self.held.setdefault(self.today, []).append((None, line))

    # ---- those of one layout ----

    @precondition(lambda self: self.layout == "archive")
    @rule()
    def rebuild(self):
        self.mem.rebuild_catalog()
        assert self.mem.catch_up().edits == ()

    @precondition(lambda self: self.layout == "workspace")
    @rule(text=TEXTS, tag=TAGS)
    def store(self, text, tag):
        before = len(self.mem.entries())
        added = self.mem.store(text, tag=tag).added
        assert len(self.mem.entries()) == before + added
        if added:
            self.held.setdefault("MEMORY.md", []).append(self.as_read(tag, text))

    @precondition(lambda self: self.layout == "layers")
    @rule(body=TEXTS)
    def hot_set(self, body):
        if body.startswith("<!--"):
            return
        self.mem.hot_set(body)
        self.body = body

    @precondition(lambda self: self.layout == "layers")
    @rule(topic=TEXTS)
    def topics_add(self, topic):
        self.mem.topics_add(topic, "2025-01")
        if topic not in self.topics:
            self.topics.append(topic)

    @precondition(lambda self: self.layout == "layers")
    @rule(text=TEXTS, tag=TAGS)
    def promote(self, text, tag):
        self.mem.append(text, tag, important=True)
        self.expect(tag, text)
        held = self.mem.hot().candidates
        assert len(held[(held["text"] == text) & (held["tag"].fillna("") == (tag or ""))]) == 1

    # ---- what always holds ----

    @invariant()
    def entries_are_those_of_the_model(self):
        frame = self.mem.entries()
        found: dict[str, list[tuple[str | None, str]]] = {}
        for row in frame.itertuples():
            found.setdefault(row.path, []).append((row.tag if isinstance(row.tag, str) else None, row.text))
        assert found == {path: rows for path, rows in self.held.items() if rows}

    @invariant()
    def no_line_is_lost(self):
        for path, lines in self.by_hand.items():
            target = self.mem.root / path
            if target.exists():  # a day goes when its last entry is forgotten
                data = target.read_bytes().split(b"\n")
                assert all(line in data for line in lines if b"<!--" in line)
        hot = self.mem.hot()
        assert (hot.content, hot.topics["topic"].tolist()) == (self.body, self.topics)

    @invariant()
    def the_audit_has_nothing_to_say(self):
        frame = self.mem.audit().frame
        late = frame["rule"].eq("row-missing")  # a day is over, and no verb has run since
        rules = ["empty-day", "index-missing", "index-misses-entry"]
        bare = frame["path"].isin(list(self.by_hand)) & frame["rule"].isin(rules)
        undone = frame["rule"].isin(["topic-empty", "month-untopiced", "candidate-old"])  # what only a person can decide
        assert frame[~late & ~bare & ~undone & frame["rule"].ne("date-outlier")]["message"].tolist() == []
        assert not self.mem.summaries()["stale"].any()


@pytest.mark.parametrize("layout", LAYOUTS)
def test_any_sequence_of_verbs_keeps_to_the_model(layout):
    run_state_machine_as_test(type(f"Verbs_{layout}", (Verbs,), {"layout": layout}), settings=SETTINGS)
