"""The agents' tools as a whole: call, schemas and names, and how a signature becomes arguments."""

import inspect
import json
import math
from contextlib import suppress
from datetime import date
from fractions import Fraction
from typing import Annotated

import numpy as np
import pytest
from conftest import CLOCK, SAMPLES, ZONE, open_at
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from memkit import tools
from memkit.errors import BadArgument, MemkitError, UnsupportedError
from memkit.tools import arguments, layers
from memkit.tools.arguments import REQUIRED, Argument, Choice, Day, Flag, Number, Text, Whole

NAMES = (
    "mem_hot_get", "mem_hot_set", "mem_write", "mem_recall", "mem_recent", "mem_by_tag", "mem_by_date", "mem_summarize",
    "mem_stats", "mem_topics_add",
)  # fmt: skip
TAKES = {
    "mem_hot_get": [], "mem_hot_set": ["content"], "mem_write": ["text", "tag", "important"],
    "mem_recall": ["keyword", "limit", "mode", "offset"], "mem_recent": ["days", "limit", "offset"],
    "mem_by_tag": ["tag", "limit", "offset"], "mem_by_date": ["from", "to", "limit", "offset"],
    "mem_summarize": ["period", "date", "force"], "mem_stats": [], "mem_topics_add": ["topic", "month"],
}  # fmt: skip
REQUIRES = {
    "mem_hot_set": ["content"], "mem_write": ["text"], "mem_recall": ["keyword"], "mem_by_tag": ["tag"],
    "mem_by_date": ["from", "to"], "mem_topics_add": ["topic", "month"],
}  # fmt: skip
RANGES = {
    ("mem_recall", "limit"): (10, 1, 50), ("mem_recent", "days"): (3, 1, 365), ("mem_recent", "limit"): (50, 1, 200),
    ("mem_by_tag", "limit"): (20, 1, 200), ("mem_by_date", "limit"): (50, 1, 200),
}  # fmt: skip
GOOD = {
    "mem_recall": {"keyword": "茶"}, "mem_recent": {}, "mem_by_tag": {"tag": "计划"},
    "mem_by_date": {"from": "2025-02-01", "to": "2025-02-28"},
}  # fmt: skip


@pytest.fixture(scope="module")
def store():
    return open_at(SAMPLES / "layers")


@pytest.fixture
def empty(tmp_path):
    return open_at(tmp_path / "new", layout="layers")


class TestSchemas:
    def test_the_tools_are_the_nine_of_the_original_and_one_more(self, store):
        assert tools.names(store) == NAMES
        assert [schema["name"] for schema in tools.schemas(store)] == list(NAMES)

    def test_arguments_have_the_names_and_the_order_of_the_original(self, store):
        for schema in tools.schemas(store):
            inputs = schema["inputSchema"]
            assert list(inputs["properties"]) == TAKES[schema["name"]]
            assert inputs["required"] == REQUIRES.get(schema["name"], [])
            assert (inputs["type"], inputs["additionalProperties"]) == ("object", False)

    def test_they_are_json_schema_and_plain_json(self, store):
        for schema in tools.schemas(store):
            assert json.loads(json.dumps(schema)) == schema
            Draft202012Validator.check_schema(schema["inputSchema"])

    def test_an_argument_with_a_default_may_be_null_and_no_other(self, store):
        for schema in tools.schemas(store):
            for name, argument in schema["inputSchema"]["properties"].items():
                valid = Draft202012Validator(argument)
                optional = name not in schema["inputSchema"]["required"]
                assert valid.is_valid(None) == optional == ("default" in argument)
                assert not optional or valid.is_valid(argument["default"])

    @pytest.mark.parametrize(("tool", "name"), RANGES)
    def test_ranges_and_defaults_are_those_of_the_original(self, store, tool, name):
        found = next(s for s in tools.schemas(store) if s["name"] == tool)["inputSchema"]["properties"][name]
        assert (found["default"], found["minimum"], found["maximum"]) == RANGES[tool, name]
        assert found["type"] == ["integer", "null"]

    def test_closed_choices_are_listed(self, store):
        found = {s["name"]: s["inputSchema"]["properties"] for s in tools.schemas(store)}
        assert found["mem_recall"]["mode"]["enum"] == ["and", "or", None]
        assert found["mem_summarize"]["period"]["enum"] == ["day", "week", "month", None]
        assert found["mem_summarize"]["force"]["type"] == ["boolean", "null"]

    def test_everything_is_described_also_in_chinese(self, store):
        for schema in tools.schemas(store):
            assert any("\u4e00" <= character <= "\u9fff" for character in schema["description"])
            assert schema["description"].count("\n\n") == 1
            assert "\n" not in schema["description"].replace("\n\n", "")
            assert all(held["description"].endswith(".") for held in schema["inputSchema"]["properties"].values())

    @pytest.mark.parametrize("layout", ["archive", "layers", "workspace"])
    def test_every_layout_has_tools(self, layout):
        held = tools.schemas(open_at(SAMPLES / layout))
        assert {schema["name"].partition("_")[0] for schema in held} == {
            {"layers": "mem", "workspace": "memory"}.get(layout, layout)
        }

    @pytest.mark.parametrize("layout", ["archive", "workspace"])
    def test_a_tool_of_another_layout_says_so(self, layout):
        with pytest.raises(UnsupportedError, match=f"mem_write: it is for the layout layers; this store is {layout}"):
            layers.mem_write(open_at(SAMPLES / layout), "水开了")


class TestCall:
    @pytest.mark.parametrize("name", ["mem_forget", "", "MEM_STATS", None, 5, ["mem_stats"], [10**5000]])
    def test_an_unknown_tool_is_refused_and_the_known_are_listed(self, store, name):
        with pytest.raises(BadArgument, match=r"^tool: none is named .* mem_hot_get, .*, mem_topics_add$"):
            tools.call(store, name)

    @pytest.mark.parametrize(
        ("name", "takes"), [("mem_recent", "it takes days, limit, offset"), ("mem_stats", "it takes none"),
                            ("mem_by_date", "it takes from, to, limit, offset")]
    )  # fmt: skip
    @pytest.mark.parametrize("argument", ["day", "from_", "store", "self", "", 3])
    def test_an_unknown_argument_is_refused_and_the_known_are_listed(self, store, name, takes, argument):
        with pytest.raises(BadArgument, match=f"^{name}: no argument is named .*; {takes}$"):
            tools.call(store, name, {**GOOD.get(name, {}), argument: 1})

    @pytest.mark.parametrize(("name", "argument"), [(n, a) for n, held in REQUIRES.items() for a in held])
    def test_a_missing_argument_is_named_and_null_is_missing(self, empty, name, argument):
        rest = (
            dict.fromkeys(REQUIRES[name], "2025-02")
            if name == "mem_topics_add"
            else dict.fromkeys(REQUIRES[name], "2025-02-01")
        )
        del rest[argument]
        for given_ in (rest, {**rest, argument: None}):
            with pytest.raises(BadArgument, match=f"^{argument}: missing; expected "):
                tools.call(empty, name, given_)

    @pytest.mark.parametrize("given_", [[], "days=3", 3, [["days", 3]], True])
    def test_arguments_are_an_object(self, store, given_):
        with pytest.raises(BadArgument, match=r"^arguments: .*; expected an object of names and values$"):
            tools.call(store, "mem_recent", given_)

    def test_no_arguments_and_null_stand_for_the_defaults(self, store):
        default = tools.call(store, "mem_recent")
        assert (default["days"], default["limit"], "offset" in default) == (3, 50, False)
        assert tools.call(store, "mem_recent", {}) == default
        assert tools.call(store, "mem_recent", {"days": None, "limit": None, "offset": None}) == default

    @pytest.mark.parametrize(("name", "given_"), GOOD.items())
    def test_called_from_python_a_tool_reads_its_arguments_alike(self, store, name, given_):
        function = getattr(layers, name)
        told = {"from": "from_"}
        asked = {**given_, "limit": "2.9", "offset": -4}
        assert function(store, **{told.get(key, key): value for key, value in asked.items()}) == tools.call(store, name, asked)
        assert function(store, *given_.values()) == tools.call(store, name, given_)
        with pytest.raises(BadArgument, match=r"^limit: 'x'; expected a number from 1 to \d+$"):
            function(store, *given_.values(), limit="x")

    @pytest.mark.parametrize(("tool", "name"), RANGES)
    @pytest.mark.parametrize(
        "value", ["many", "", " ", True, False, math.nan, math.inf, -math.inf, "nan", "inf", [], {}, "1_0"]
    )
    def test_what_is_no_number_is_an_error_that_names_the_argument_and_the_range(self, store, tool, name, value):
        _, least, most = RANGES[tool, name]
        with pytest.raises(BadArgument, match=f"^{name}: .*; expected a number from {least} to {most}$"):
            tools.call(store, tool, {**GOOD[tool], name: value})

    @pytest.mark.parametrize(("tool", "name"), RANGES)
    def test_numbers_are_brought_into_the_range_and_echoed(self, store, tool, name):
        default, least, most = RANGES[tool, name]
        for value, effective in (
            (0, least),
            (-7, least),
            (10**400, most),
            ("5000", most),
            ("2.9", 2),
            (2.9, 2),
            (None, default),
        ):
            assert tools.call(store, tool, {**GOOD[tool], name: value})[name] == effective

    @settings(max_examples=150, deadline=None)
    @given(data=st.data())
    def test_whatever_json_is_given_only_errors_that_are_meant_are_raised(self, tmp_path_factory, data):
        name = data.draw(st.sampled_from(NAMES))
        word = st.sampled_from(["2025-02-28", "2025-02", "and", "day", "-", "[]", "true", "\ud800", "<!-- topics:start -->"])
        json_like = st.recursive(
            st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | word,
            lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner, max_size=2),
            max_leaves=3,
        )
        asked = data.draw(st.fixed_dictionaries({}, optional=dict.fromkeys([*TAKES[name]], json_like)))
        root = tmp_path_factory.getbasetemp() / "whatever"
        with suppress(MemkitError):
            answer = tools.call(layers.open_store(root, now=CLOCK, tz=ZONE), name, asked)
            json.dumps(answer, ensure_ascii=False, allow_nan=False).encode("utf-8")


class TestKinds:
    @pytest.mark.parametrize(
        ("value", "read"),
        [(5, 5), (5.9, 5), (-0.5, 1), ("5", 5), (" 5.5 ", 5), ("+5", 5), (".5e1", 5), ("1e2", 9),
         (np.int64(5), 5), (np.float32(5.5), 5), (Fraction(11, 2), 5)],
    )  # fmt: skip
    def test_numbers_are_rounded_down_and_brought_into_the_range(self, value, read):
        found = Number("", least=1, most=9).read(value)
        assert found == read
        assert type(found) is int

    @pytest.mark.parametrize("value", [True, np.True_, "", "五", "５", "0x5", "5;", "1e999", math.nan, None, b"5", 5j])
    def test_what_is_no_finite_number_is_none(self, value):
        assert Number("", least=1, most=9).read(value) is None

    @pytest.mark.parametrize("value", [True, "true"])
    def test_true_is_a_yes(self, value):
        assert Flag("").read(value) is True

    @pytest.mark.parametrize("value", [False, "false", "yes", "1", 1, 1.0, "TRUE", "", [], {"true": True}])
    def test_all_else_is_a_no(self, value):
        assert Flag("").read(value) is False

    def test_choices_are_found_whatever_their_case(self):
        mode = Choice("", ("and", "or"))
        assert [mode.read(value) for value in ("AND", "Or", "and ", "", "both", 1, None)] == ["and", "or", *[None] * 5]

    def test_days_are_real_dates_in_ascii(self):
        day = Day("")
        assert [day.read(value) for value in ("2025-02-28", date(2025, 2, 28))] == ["2025-02-28"] * 2
        bad = (
            "2026-02-29",
            "2025-2-28",
            "20250228",
            "２０２５-02-28",
            "2025-02-28 ",
            "2025-02-28T00:00",
            "2025-W09-5",
            "",
            20250228,
        )
        assert [day.read(value) for value in bad] == [None] * len(bad)

    def test_texts_are_taken_as_they_are(self):
        assert [Text("").read(value) for value in ("", " x\n", 5, None, ["x"], b"x")] == ["", " x\n", None, None, None, None]

    def test_an_error_shows_no_more_than_the_start_of_a_value(self):
        argument = Argument("month", Day(""), REQUIRED)
        for value, shown in (("x" * 99, repr("x" * 40)), (10**5000, "a value of type int"), (None, "missing"), (True, "True")):
            with pytest.raises(BadArgument) as caught:
                argument.read(value)
            assert str(caught.value) == f"month: {shown}; expected a real date as YYYY-MM-DD"

    @pytest.mark.parametrize(("value", "read"), [(1, 1), ("2", 2), (" +3 ", 3), (2.0, 2), (np.int64(4), 4), ("9" * 4000, None)])
    def test_whole_numbers_are_taken_as_they_are(self, value, read):
        found = Whole("", least=1).read(value)
        assert found == (read or 10**4000 - 1)
        assert type(found) is int

    @pytest.mark.parametrize(
        "value", [0, -1, "0", "-1", 2.5, "2.5", "2.0", "1e3", "", "五", "５", True, math.nan, math.inf, None, [], "9" * 5000]
    )
    def test_a_number_that_is_not_whole_or_too_small_is_none(self, value):
        assert Whole("", least=1).read(value) is None

    @pytest.mark.parametrize(
        ("name", "known"),
        [("limit", "limit"), ("from_", "from"), ("max_results", "maxResults"), ("a_b_c_", "aBC")],
    )
    def test_agents_know_arguments_in_camel_case(self, name, known):
        def mem_echo(store, **_):
            """Say it again."""

        parameters = [inspect.Parameter("store", 1), inspect.Parameter(name, 1, annotation=Annotated[str, Text("It.")])]
        mem_echo.__signature__ = inspect.Signature(parameters)
        assert arguments.named(mem_echo, {known: "x"}) == {name: "x"}
        with pytest.raises(BadArgument, match=f"it takes {known}$"):
            arguments.named(mem_echo, {"x_y": "x"})

    def test_one_declaration_gives_reading_default_and_schema(self, store):
        @arguments.tool("layers")
        def mem_echo(store, in_: Annotated[int, Number("How many.", least=2, most=8)] = 4):
            """Say it again."""
            return {"in": in_}

        assert [mem_echo(store), mem_echo(store, None), mem_echo(store, "99"), mem_echo(store, in_=0)] == [
            {"in": 4}, {"in": 4}, {"in": 8}, {"in": 2},
        ]  # fmt: skip
        assert arguments.named(mem_echo, {"in": 1}) == {"in_": 1}
        assert arguments.described(mem_echo) == {
            "name": "mem_echo",
            "description": "Say it again.",
            "inputSchema": {
                "type": "object",
                "properties": {
                    "in": {"type": ["integer", "null"], "minimum": 2, "maximum": 8, "description": "How many.", "default": 4}
                },
                "required": [],
                "additionalProperties": False,
            },
        }
