"""The flush before a conversation is cut short: what the model is shown, what it may call, when it ends, what comes back."""

import copy
import json

import pytest
from conftest import CLOCK, SAMPLES, ZONE, open_at

import memkit
from memkit import tools
from memkit.errors import BadArgument, UnsupportedError
from memkit.tools import flush

STAMP = "2025-02-28T13:30:00.000Z"
SEED = (
    "Session nearing compaction. Write any lasting notes to MEMORY.md or memory/YYYY-MM-DD.md now. "
    "Reply with NO_REPLY if nothing to store."
)


class Model:
    """A model that says what it was told to say, turn by turn, and keeps what it was shown."""

    def __init__(self, *turns):
        self.turns, self.shown = list(turns), []

    def __call__(self, messages):
        self.shown.append(messages)
        return self.turns.pop(0)


def note(text, **given):
    return {"name": "memory_store", "arguments": {"text": text, **given}}


def says(text="", *calls):
    return {"text": text, "calls": list(calls)}


@pytest.fixture
def store(tmp_path):
    return memkit.open(tmp_path / "ws", layout="workspace", now=CLOCK, tz=ZONE)


@pytest.fixture
def run(store):
    def run(*turns, **options):
        model = Model(*turns)
        return tools.run_memory_flush(store, model, **options), model.shown

    return run


class TestPrompt:
    def test_it_is_that_of_the_original(self):
        assert tools.memory_flush_prompt() == SEED

    def test_the_model_is_shown_the_prompt_alone(self, run):
        _, shown = run(says("NO_REPLY"))
        assert shown == [[{"role": "user", "content": SEED}]]
        _, shown = run(says("NO_REPLY"), prompt="快写下来")
        assert shown == [[{"role": "user", "content": "快写下来"}]]

    @pytest.mark.parametrize("prompt", ["", " \n", None, 5, ["x"]])
    def test_it_is_a_text(self, run, prompt):
        with pytest.raises(BadArgument, match=r"^prompt: .*; expected a text$"):
            run(prompt=prompt)


class TestRounds:
    def test_calls_are_run_and_their_results_shown_to_the_next_turn(self, run, store):
        first = says("记一下", note("每人一个文件"), {"name": "memory_search", "arguments": {"query": "文件"}})
        answer, shown = run(first, says("NO_REPLY"))
        assert answer == {"stored": 1, "replied": False, "rounds": 2}
        assert (store.root / "MEMORY.md").read_text(encoding="utf-8") == f"## Store\n- {STAMP} 每人一个文件\n"
        asked, said, wrote, found = shown[1]
        assert asked == {"role": "user", "content": SEED}
        assert said == {"role": "assistant", "content": "记一下", "calls": first["calls"]}
        assert wrote == {
            "role": "tool", "name": "memory_store",
            "content": json.dumps({"ok": True, "path": "MEMORY.md", "target": "longterm"}),
        }  # fmt: skip
        assert json.loads(found["content"])["results"][0]["snippet"] == "每人一个文件"
        assert "每人一个文件" in found["content"]

    @pytest.mark.parametrize(
        ("turns", "told"),
        [([says("NO_REPLY")], (0, False, 1)), ([says(" no_reply\n")], (0, False, 1)), ([says("No_Reply")], (0, False, 1)),
         ([says("")], (0, False, 1)), ([says(" \n")], (0, False, 1)), ([{"text": None, "calls": None}], (0, False, 1)),
         ([{"text": "没什么"}], (0, True, 1)), ([{"calls": ()}], (0, False, 1)),
         ([says("NO_REPLY.")], (0, True, 1)), ([says("I say NO_REPLY")], (0, True, 1)),
         ([says("", note("一")), says("写好了")], (1, True, 2)), ([says("", note("一")), says("no_reply")], (1, False, 2)),
         ([says("NO_REPLY", note("一"))], (1, False, 1)), ([says("I say NO_REPLY", note("一")), says("")], (1, False, 2))],
    )  # fmt: skip
    def test_it_ends_without_calls_or_with_no_reply_alone(self, run, turns, told):
        answer, shown = run(*turns)
        assert answer == dict(zip(("stored", "replied", "rounds"), told, strict=True))
        assert len(shown) == told[2]

    @pytest.mark.parametrize("most", [1, 2, 4, 7])
    def test_it_ends_after_so_many_rounds_and_the_last_calls_still_count(self, run, store, most):
        answer, shown = run(*(says("继续", note(f"第 {n} 条")) for n in range(9)), max_rounds=most)
        assert answer == {"stored": most, "replied": True, "rounds": most}
        assert len(shown) == most
        assert len(store.entries()) == most

    def test_four_rounds_are_the_most_unless_asked(self, run):
        assert run(*(says("", note(f"第 {n} 条")) for n in range(9)))[0]["rounds"] == 4

    @pytest.mark.parametrize("most", [0, -1, 1.5, "4", True, None])
    def test_the_most_is_a_whole_number(self, run, most):
        with pytest.raises(BadArgument, match=r"^max_rounds: .*; expected a whole number of at least 1$"):
            run(max_rounds=most)

    def test_only_what_was_added_counts_as_stored(self, run):
        calls = [
            note("一"),
            note("一"),
            note("一", target="daily"),
            {"name": "memory_forget", "arguments": {"text": "二"}},
            note(""),
        ]
        assert run(says("", *calls), says())[0] == {"stored": 2, "replied": False, "rounds": 2}

    def test_an_id_of_a_call_comes_back_with_its_result_and_nothing_else_does(self, run):
        _, shown = run(says("", {**note("一"), "id": "c1", "type": object()}), says())
        assert shown[1][1]["calls"] == [{**note("一"), "id": "c1"}]
        assert shown[1][2]["id"] == "c1"


class TestRefusals:
    @pytest.mark.parametrize(
        ("call", "reason"),
        [
            (
                {"name": "write", "arguments": {"path": "x", "content": "y"}},
                "tool: none is named 'write'; expected memory_search,",
            ),
            ({"name": "mem_write", "arguments": {"text": "一"}}, "tool: none is named 'mem_write'"),
            ({}, "tool: none is named missing"),
            ({"name": "__class__"}, "tool: none is named"),
            ({"name": 5}, "tool: none is named"),
            ({"name": "memory_store"}, "text: missing"),
            (note(""), "text: "),
            (note("一", tag="x"), "no argument is named 'tag'"),
            (note("一", target="weekly"), "target: 'weekly'; expected longterm, daily"),
            ({"name": "memory_store", "arguments": '{"text": "一"}'}, "arguments: "),
            ({"name": "memory_get", "arguments": {"path": "../x.md"}}, "path: '../x.md': it leaves the workspace"),
        ],
    )
    def test_the_model_is_told_why_and_may_do_better(self, run, store, call, reason):
        answer, shown = run(says("", call), says("", note("二")), says("NO_REPLY"))
        assert answer == {"stored": 1, "replied": False, "rounds": 3}
        told = json.loads(shown[1][2]["content"])
        assert list(told) == ["error"]
        assert reason in told["error"]
        assert store.entries()["text"].tolist() == ["二"]

    def test_another_writer_is_an_error_that_is_told(self, tmp_path):
        store = memkit.open(tmp_path, layout="workspace", now=CLOCK, tz=ZONE, lock_timeout=0.05)
        model = Model(says("", note("一")), says())
        with memkit.open(tmp_path, layout="workspace")._desk.writing():
            assert tools.run_memory_flush(store, model)["stored"] == 0
        assert "another writer" in json.loads(model.shown[1][2]["content"])["error"]

    def test_what_the_turn_raises_is_passed_on_and_what_was_stored_stays(self, store):
        turns = iter([says("", note("一"))])
        with pytest.raises(StopIteration):
            flush.run_memory_flush(store, lambda messages: next(turns))
        assert store.entries()["text"].tolist() == ["一"]

    @pytest.mark.parametrize(
        ("turn", "reason"),
        [
            (None, "it returned missing; expected an object of text and calls"),
            ("NO_REPLY", "it returned 'NO_REPLY'"),
            ([], "it returned a value of type list"),
            ({}, "it returned an object of nothing"),
            ({"choices": []}, "it returned an object of choices; expected an object of text and calls"),
            ({"text": 5}, "its text is 5"),
            ({"text": "x", "calls": {}}, "its calls are a value of type dict"),
            ({"calls": "memory_store"}, "its calls are 'memory_store'"),
            ({"calls": [note("一"), "memory_store"]}, "one of its calls is"),
            ({"calls": [None]}, "one of its calls is missing"),
            ({"text": "x", "calls": 1}, "its calls are 1"),
        ],
    )
    def test_a_turn_that_returns_anything_else_is_an_error_and_none_of_it_is_run(self, run, store, turn, reason):
        with pytest.raises(BadArgument, match=f"^turn: {reason}"):
            run(turn)
        assert not store.root.exists()

    @pytest.mark.parametrize("layout", ["archive", "layers"])
    def test_another_layout_has_none(self, layout):
        with pytest.raises(UnsupportedError, match=f"run_memory_flush: it is for the layout workspace; this store is {layout}"):
            flush.run_memory_flush(open_at(SAMPLES / layout), Model())


class TestSilence:
    def test_the_conversation_of_the_caller_is_not_touched(self, store):
        conversation = [{"role": "user", "content": "你好"}]
        turns = [says("", note("一", target=None)), says("完")]
        told = copy.deepcopy(turns)

        def turn(messages):
            messages.insert(0, conversation[0])  # it may do with its copy what it likes
            messages[-1]["content"] = "x"
            return turns[len(messages) > 2]

        assert flush.run_memory_flush(store, turn) == {"stored": 1, "replied": True, "rounds": 2}
        assert conversation == [{"role": "user", "content": "你好"}]
        assert turns == told

    def test_nothing_to_store_leaves_no_trace(self, run, store):
        run(says("NO_REPLY"))
        assert not store.root.exists()
