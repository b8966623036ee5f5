"""push: an edited frame against the disk; every row has a reason, nothing applies itself, a second push does nothing."""

from __future__ import annotations

import io
import shutil

import pandas as pd
import pytest
from conftest import SAMPLES, open_at

from memkit import schema
from memkit.errors import BadArgument, ConflictError
from memkit.text import norm_text

LAYOUTS = ("archive", "workspace", "layers")
TODAY = "2025-02-28"
TODAYS = {"archive": "archive/2025/2025-02-28.md", "workspace": "memory/2025-02-28.md", "layers": "cold/2025-02/2025-02-28.md"}


@pytest.fixture(params=LAYOUTS)
def layout(request):
    return request.param


@pytest.fixture
def mem(layout, tmp_path):
    shutil.copytree(SAMPLES / layout, tmp_path / "store")
    return open_at(tmp_path / "store")


def tree(root):
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in sorted(root.rglob("*")) if path.is_file()}


def editable(mem):
    return mem.entries(editable=True)


def new(*texts, **columns):
    return pd.DataFrame({"text": list(texts), **columns})


def edited(frame, nth, **values):
    """Return the frame with one row changed."""
    frame = frame.copy()
    for name, value in values.items():
        frame.loc[frame.index[nth], name] = value
    return frame


def actions(plan):
    return plan.rows["action"].value_counts().to_dict()


class TestAnUnchangedFrame:
    def test_changes_nothing(self, mem):
        before = tree(mem.root)
        plan = mem.push(editable(mem))
        assert actions(plan) == {"unchanged": len(mem.entries())}
        assert plan.edits == ()
        plan.apply()
        assert tree(mem.root) == before

    @pytest.mark.parametrize(
        "how",
        [
            lambda frame: frame.sort_values("chars", ascending=False),
            lambda frame: frame[frame["tag"].notna()],
            lambda frame: frame.sample(frac=1, random_state=7).reset_index(drop=True),
            lambda frame: frame.assign(line=1, end_line=-1),
            lambda frame: frame[["text", "digest", "tag"]],
            lambda frame: frame.assign(mine="spalte"),
            lambda frame: pd.concat([frame, frame.iloc[:3]]),
            lambda frame: frame.astype({"digest": "float64"}),
            lambda frame: frame.astype({"digest": "str"}),
            lambda frame: frame[["text", "digest"]],
            lambda frame: frame.drop(columns="tag"),
            lambda frame: frame.iloc[:0],
        ],
    )
    def test_is_known_again_however_it_was_turned(self, mem, how):
        frame = how(editable(mem))
        plan = mem.push(frame)
        assert actions(plan) == ({"unchanged": len(frame)} if len(frame) else {})
        assert plan.edits == ()

    @pytest.mark.parametrize("kind", ["parquet", "csv"])
    def test_is_known_again_from_a_file(self, mem, kind):
        frame = editable(mem)
        if kind == "parquet":
            back = pd.read_parquet(io.BytesIO(frame.to_parquet()))
        else:
            back = pd.read_csv(io.StringIO(frame.to_csv(index=False)), keep_default_na=False)
        plan = mem.push(back)
        assert actions(plan) == {"unchanged": len(frame)}
        assert plan.edits == ()

    def test_whose_cells_a_careless_reader_lost_changes_nothing_either(self, mem):
        back = pd.read_csv(io.StringIO(editable(mem).to_csv(index=False)))  # takes `None` and `NA` for missing
        plan = mem.push(back)
        assert set(actions(plan)) <= {"unchanged", "refused"}
        assert plan.edits == ()

    def test_says_in_three_columns_what_becomes_of_each_row(self, mem):
        frame = editable(mem).iloc[[3, 1]]
        rows = mem.push(frame).rows
        assert list(rows.columns) == ["row", "action", "reason"]
        assert [str(dtype) for dtype in rows.dtypes] == [str(schema.STR)] * 3
        assert rows.values.tolist() == [["3", "unchanged", "as on disk"], ["1", "unchanged", "as on disk"]]


class TestNewRows:
    @pytest.mark.parametrize("date", [None, pd.NaT, TODAY, pd.Timestamp(TODAY)])
    def test_are_appended_today(self, mem, date):
        frame = pd.concat([editable(mem), new("秤又偏了", "秤归零了", tag=["待办", None], date=[date, date])])
        before = tree(mem.root)
        plan = mem.push(frame)
        assert tree(mem.root) == before
        assert actions(plan) == {"unchanged": len(mem.entries()), "append": 2}
        assert plan.added == 2
        plan.apply()
        added = mem.entries().query("path == @TODAYS[@layout]", local_dict={"layout": mem.layout, "TODAYS": TODAYS}).iloc[-2:]
        assert added["text"].tolist() == ["秤又偏了", "秤归零了"]
        assert added["tag"].fillna("-").tolist() == ["待办", "-"]

    def test_of_another_day_are_refused(self, mem):
        frame = new("昨天的事", "明天的事", "哪天的事", digest=None, date=["2025-02-27", "2025-03-01", "someday"])
        plan = mem.push(frame)
        assert plan.rows["reason"].tolist() == [
            "new rows are appended today; 2025-02-27 is another day",
            "new rows are appended today; 2025-03-01 is another day",
            "its date 'someday' is none",
        ]
        assert actions(plan) == {"refused": 3}
        assert plan.edits == ()

    @pytest.mark.parametrize("text", ["", " \n", None, float("nan"), 7])
    def test_without_a_text_are_refused_and_hold_up_no_other(self, mem, text):
        frame = pd.DataFrame({"text": pd.Series([text, "水开了"], dtype=object), "digest": None})
        plan = mem.push(frame)
        assert plan.rows["action"].tolist() == ["refused", "append"]
        plan.apply()
        assert mem.recent(1)["text"].tolist().count("水开了") == 1

    def test_that_no_entry_can_hold_are_refused_with_the_reason(self, mem):
        plan = mem.push(new("---", "水开了", "长" * 4001, "灯", digest=None, tag=[None, None, None, 7]))
        said = dict(zip(plan.rows["row"], plan.rows["action"], strict=True))
        assert said["1"] == "append"
        assert said["3"] == "refused"
        assert said["0"] == ("append" if mem.layout == "layers" else "refused")
        assert said["2"] == ("append" if mem.layout == "archive" else "refused")
        assert all(plan.rows.query("action == 'refused'")["reason"].str.match(r"text: |its tag is no text"))

    def test_of_half_a_character_are_added_as_append_adds_them(self, mem):
        frame = pd.DataFrame({"text": pd.Series(["灯\ud83d", "水开了", "壶"], dtype=object), "digest": None})
        frame["tag"] = pd.Series([None, None, "茶\udc00"], dtype=object)
        plan = mem.push(frame)
        assert plan.rows["action"].tolist() == ["append"] * 3
        plan.apply()
        said = mem.recent(1)
        assert {"灯\ufffd", "水开了", "壶"} <= set(said["text"])
        assert mem.append("灯\ud83d").added == 0  # it is there already

    def test_of_a_label_that_is_half_a_character_are_added(self, mem):
        plan = mem.push(pd.DataFrame({"text": ["水开了"], "digest": [None]}, index=pd.Index(["\ud83d"], dtype=object)))
        assert plan.rows.values.tolist()[0][:2] == ["\\ud83d", "append"]

    @pytest.mark.parametrize("said", ["today", "Today ", "now"])
    def test_of_today_are_of_the_day_that_the_stores_clock_says(self, mem, said):
        plan = mem.push(new("水开了", digest=None, date=[said]))
        assert plan.rows["action"].tolist() == ["append"]
        plan.apply()
        assert mem.recent(1).query("text == '水开了'")["date"].tolist() == [pd.Timestamp(TODAY)]

    def test_the_same_twice_is_added_once(self, mem):
        plan = mem.push(new("水开了", "水开了", digest=None))
        assert plan.rows["action"].tolist() == ["append", "unchanged"]
        assert plan.added == 1


class TestAChangedRow:
    def test_of_a_day_that_is_over_becomes_a_correction_of_today(self, mem):
        frame = editable(mem)
        nth = frame["date"].eq("2025-02-03").to_numpy().nonzero()[0][0]
        old = frame.iloc[nth]
        plan = mem.push(edited(frame, nth, text="开业日期改到 3 月 15 日"))
        assert actions(plan) == {"unchanged": len(frame) - 1, "correct": 1}
        assert plan.rows["reason"].iloc[nth] == "2025-02-03 is frozen, so today says what is right"
        plan.apply()
        day = mem.entries().query("path == @old.path")
        assert day["text"].tolist() == frame.query("path == @old.path")["text"].tolist()
        added = mem.entries().query("path == @TODAYS[@mem.layout]").iloc[-1]
        head, _, said = added["text"].partition(" → ")
        subject = head.removeprefix("更正 ").removeprefix("2025-02-03：")
        assert said == "开业日期改到 3 月 15 日"
        assert len(subject) > 5
        assert norm_text(old["text"]).startswith(subject)

    def test_of_today_is_refused_and_correct_is_named(self, mem):
        frame = editable(mem)
        nth = frame["path"].eq(TODAYS[mem.layout]).to_numpy().nonzero()[0][0]
        plan = mem.push(edited(frame, nth, text="不是这样"))
        assert plan.rows["action"].iloc[nth] == "refused"
        assert "correct()" in plan.rows["reason"].iloc[nth]
        assert plan.edits == ()

    def test_without_a_date_is_refused(self, tmp_path):
        mem = open_at(shutil.copytree(SAMPLES / "workspace", tmp_path / "w"))
        frame = editable(mem)
        nth = frame["date"].isna().to_numpy().nonzero()[0][0]
        plan = mem.push(edited(frame, nth, text="不是这样"))
        assert plan.rows["reason"].iloc[nth].startswith("it has no date that a correction could name")
        assert plan.edits == ()

    def test_in_its_tag_alone_is_corrected_by_naming_the_tag(self, mem):
        frame = editable(mem)
        held = frame["tag"].notna() & frame["date"].lt("2025-02-01")
        nth = held.to_numpy().nonzero()[0][0]
        plan = mem.push(edited(frame, nth, tag="改过"))
        assert plan.rows["action"].iloc[nth] == "correct"
        plan.apply()
        assert mem.recent(1)["text"].str.contains(f"[改过] {frame['text'].iloc[nth]}"[:20], regex=False).sum() == 1
        off = mem.push(edited(frame, nth, tag=None))
        assert off.rows["action"].iloc[nth] == "refused"

    def test_keeps_the_tag_that_a_frame_without_tags_does_not_show(self, mem):
        frame = editable(mem)
        nth = (frame["tag"].notna() & frame["date"].lt("2025-02-01")).to_numpy().nonzero()[0][0]
        plan = mem.push(edited(frame.drop(columns="tag"), nth, text="改过的说法"))
        assert actions(plan) == {"unchanged": len(frame) - 1, "correct": 1}
        shown = edited(frame, nth, text="改过的说法")
        assert plan.diff() == mem.push(shown).diff()

    def test_in_two_ways_is_changed_in_the_first_and_the_other_is_told(self, mem):
        frame = editable(mem)
        nth = frame["date"].eq("2025-02-03").to_numpy().nonzero()[0][0]
        row = frame.iloc[[nth]]
        pushed = pd.concat([edited(row, 0, text=said) for said in ("三点", "四点", "三点")])
        plan = mem.push(pushed)
        assert plan.rows["action"].tolist() == ["correct", "conflict", "unchanged"]
        assert plan.rows["reason"].iloc[1] == "a row before it changes the same entry in another way; keep one of them"
        assert plan.added == 1

    def test_may_be_one_of_two_that_were_equal(self, tmp_path):
        root = tmp_path / "w/memory"
        root.mkdir(parents=True)
        (root / "2025-02-03.md").write_text("- [家庭] 水开了\n- [家庭] 水开了\n", encoding="utf-8")
        mem = open_at(tmp_path / "w")
        frame = editable(mem)
        assert frame["digest"].nunique() == 1
        plan = mem.push(edited(frame, 1, text="水没开"))
        assert plan.rows["action"].tolist() == ["unchanged", "correct"]

    def test_names_itself_by_its_first_line_that_says_something(self, tmp_path):
        root = tmp_path / "w/memory"
        root.mkdir(parents=True)
        (root / "2025-02-03.md").write_text("```\n\n  壶 =  4711\n```\n", encoding="utf-8")
        mem = open_at(tmp_path / "w")
        mem.push(edited(editable(mem), 0, text="壶 = 4712")).apply()
        assert mem.recent(1)["text"].tolist() == ["更正 2025-02-03：壶 = 4711 → 壶 = 4712"]


class TestARowThatIsGone:
    def test_from_its_file_is_a_conflict_and_holds_up_no_other(self, mem):
        frame = editable(mem)
        gone = frame.iloc[[4]]
        mem.forget(gone).apply()
        plan = mem.push(pd.concat([edited(gone, 0, text="改"), new("水开了", digest=None)]))
        assert plan.rows["action"].tolist() == ["conflict", "append"]
        assert plan.rows["reason"].iloc[0] == "what it was made from is no longer in that file"

    def test_is_not_looked_for_in_another_file(self, mem):
        frame = editable(mem)
        moved = frame.iloc[[4]].assign(path=frame["path"].iloc[-1])
        assert mem.push(moved).rows["action"].tolist() == ["conflict"]

    def test_and_stands_in_another_frame_only_is_no_row_at_all(self, mem):
        frame = editable(mem)
        other = frame.iloc[[4]].assign(digest=frame["digest"].iloc[4] ^ 1)
        assert mem.push(other).rows["action"].tolist() == ["conflict"]


class TestMissingRows:
    def test_change_nothing(self, mem):
        assert mem.push(editable(mem).iloc[::2]).edits == ()

    def test_are_forgotten_when_asked(self, mem):
        frame = editable(mem)
        plan = mem.push(frame.drop(frame.index[[4, 9]]), forget_missing=True)
        gone = frame.iloc[[4, 9]]
        assert plan.rows.query("action == 'forget'").values.tolist() == [
            [f"{path}:{line}", "forget", "it is missing from the frame"]
            for path, line in zip(gone["path"], gone["line"], strict=True)
        ]
        plan.apply()
        assert mem.entries()["text"].tolist() == frame.drop(frame.index[[4, 9]])["text"].tolist()
        assert not len(mem.audit().frame)
        assert not mem.summaries()["stale"].any()

    def test_are_told_apart_by_their_file(self, tmp_path):
        for day in ("2025-02-03", "2025-02-04"):
            (tmp_path / "w/memory").mkdir(parents=True, exist_ok=True)
            (tmp_path / f"w/memory/{day}.md").write_text("- 水开了\n- 灯\n", encoding="utf-8")
        mem = open_at(tmp_path / "w")
        frame = editable(mem)
        mem.push(frame.query("not (path == 'memory/2025-02-03.md' and text == '水开了')"), forget_missing=True).apply()
        assert (tmp_path / "w/memory/2025-02-03.md").read_text("utf-8") == "- 灯\n"
        assert (tmp_path / "w/memory/2025-02-04.md").read_text("utf-8") == "- 水开了\n- 灯\n"

    def test_dreams_and_transcripts_are_not_missing(self, tmp_path):
        root = shutil.copytree(SAMPLES / "workspace", tmp_path / "w")
        session = tmp_path / "chat.jsonl"
        session.write_text('{"role": "user", "content": "水开了吗"}\n', encoding="utf-8")
        mem = open_at(root, session=session)
        frame = editable(mem)
        plan = mem.push(frame[frame["kind"] != "session"], forget_missing=True)
        assert actions(plan) == {"unchanged": len(frame) - 1, "kept": 1}
        assert plan.edits == ()

    def test_can_go_together_with_new_and_changed_ones(self, mem):
        frame = editable(mem)
        todays = frame["path"].eq(TODAYS[mem.layout]).to_numpy().nonzero()[0]
        pushed = pd.concat([edited(frame, 2, text="改过的说法").drop(frame.index[[4, todays[0]]]), new("水开了")])
        plan = mem.push(pushed, forget_missing=True)
        assert actions(plan) == {"unchanged": len(frame) - 3, "correct": 1, "append": 1, "forget": 2}
        plan.apply()
        expected = frame.drop(frame.index[[4, todays[0]]])
        now = mem.entries()
        assert set(expected["text"]) <= set(now["text"])
        assert len(now) == len(expected) + 2
        assert not len(mem.audit().frame)

    def test_may_be_all(self, mem):
        mem.push(editable(mem).iloc[:0], forget_missing=True).apply()
        assert len(mem.entries()) == 0


class TestPushedAgain:
    def test_has_nothing_left_to_do(self, mem):
        frame = editable(mem)
        pushed = pd.concat([edited(frame, 2, text="改过的说法").drop(frame.index[4]), new("水开了", "灯", tag=["家庭", None])])
        first = mem.push(pushed, forget_missing=True)
        assert actions(first) == {"unchanged": len(frame) - 2, "correct": 1, "append": 2, "forget": 1}
        first.apply()
        after = tree(mem.root)
        again = mem.push(pushed)
        assert actions(again) == {"unchanged": len(pushed)}
        assert again.edits == ()
        assert again.added == 0
        again.apply()
        assert tree(mem.root) == after

    def test_after_a_change_by_hand_is_a_conflict_and_writes_nothing(self, mem):
        plan = mem.push(new("水开了", digest=None))
        target = mem.root / TODAYS[mem.layout]
        target.write_bytes(target.read_bytes() + b"\n")
        before = tree(mem.root)
        with pytest.raises(ConflictError):
            plan.apply()
        assert tree(mem.root) == before

    def test_cannot_leave_rows_out(self, mem):
        with pytest.raises(Exception, match="only a plan of forget"):
            mem.push(new("水开了", digest=None)).without(0)


class TestWhatIsNoEditedFrame:
    @pytest.mark.parametrize(
        ("frame", "reason"),
        [
            (pd.DataFrame({"text": ["茶"]}), "it has no column digest"),
            (pd.DataFrame({"digest": [1]}), "it has no column text"),
            (["茶"], "list"),
            ("茶", "str"),
            (pd.DataFrame({"text": ["茶"], "digest": ["abc"]}), "the digest 'abc' is no whole number"),
            (pd.DataFrame({"text": ["茶"], "digest": [True]}), "the digest 'True' is no whole number"),
            (pd.DataFrame({"text": ["茶"], "digest": [1.5]}), r"the digest '1\.5' is no whole number"),
            (pd.DataFrame({"text": ["茶"], "digest": ["1.5"]}), r"the digest '1\.5' is no whole number"),
            (pd.DataFrame([["茶", "水", 1]], columns=["text", "text", "digest"]), "it has the column 'text' twice"),
            (pd.DataFrame([["茶", 1, 2]], columns=["text", "digest", "digest"]), "it has the column 'digest' twice"),
            (pd.DataFrame({"text": ["茶"], "digest": [float("inf")]}), "the digest 'inf' is no whole number"),
        ],
    )
    def test_is_refused(self, mem, frame, reason):
        with pytest.raises(BadArgument, match=f"^frame: .*{reason}"):
            mem.push(frame)


class TestTheIndexOfAPushedDay:
    @pytest.mark.parametrize("index", [None, "一句手写的摘要", "；".join(f"手写的第 {n} 句，说的是别的事" for n in range(60))])
    def test_is_not_at_fault_however_much_was_pushed(self, tmp_path, index):
        mem = open_at(shutil.copytree(SAMPLES / "archive", tmp_path / "store"))
        if index is not None:
            mem.append("第一条", index=index)
        for start in (0, 500):
            mem.push(new(*(f"第 {n} 条" for n in range(start, start + 500)), digest=None)).apply()
        assert "index-copies-body" not in set(mem.audit().frame["rule"])
