"""Many stores as one: which there are, what they are called, what they answer, and what one of them that fails costs."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import textwrap
import time
from datetime import datetime
from pathlib import Path

import pandas as pd
import pytest
from conftest import CLOCK, SAMPLES, ZONE

import memkit
from memkit import schema
from memkit.fleet import dataset

LAYOUTS = ("archive", "layers", "workspace")
NOUNS = {
    "entries": schema.ENTRIES, "days": schema.DAYS, "catalog": schema.CATALOG, "summaries": schema.SUMMARIES,
    "topics": schema.TOPICS, "tags": schema.TAGS, "files": schema.FILES, "gaps": schema.GAPS, "duplicates": schema.DUPLICATES,
}  # fmt: skip
QUESTIONS = {
    "recent": (7,),
    "between": ("2025-02-01", "2025-02-10"),
    "tagged": ("计划",),
    "matching": ("的",),
    "volume": ("month",),
}


def many(paths, **options):
    return memkit.open_many(paths, **{"now": CLOCK, "tz": ZONE, "workers": 1, "progress": False, **options})


def alone(path):
    return memkit.open(path, now=CLOCK, tz=ZONE)


@pytest.fixture(scope="module")
def stores(tmp_path_factory):
    """Return a folder of five stores of all layouts, two of them with unusual names, which no test changes."""
    folder = tmp_path_factory.mktemp("agents")
    for name, layout in zip(
        ("阿澈 的库", "a=b%20c", "layers", "team/x", "team/y"), (*LAYOUTS, "layers", "archive"), strict=True
    ):
        shutil.copytree(SAMPLES / layout, folder / name)
    return folder


@pytest.fixture(scope="module")
def paths(stores):
    return [stores / "*", stores / "team" / "?"]


@pytest.fixture(scope="module")
def two(paths):
    """Return the fleet of these stores that two processes ask."""
    with many(paths, workers=2) as fleet:
        yield fleet


@pytest.fixture
def one(paths):
    return many(paths)


# ---- which stores there are ----


def test_stores_are_called_after_their_folders_below_the_common_parent(one, stores):
    assert list(one) == sorted(["阿澈 的库", "a=b%20c", "layers", "team/x", "team/y"])
    assert len(one) == 5
    assert "team/x" in one
    assert one.stores()["root"].tolist() == [str(alone(stores / name).root) for name in one]


def test_a_folder_of_a_glob_that_is_no_store_is_a_problem(one, stores):
    problems = one.problems()
    assert list(problems.columns) == ["store", "path", "asked", "error", "reason"]
    assert problems[["store", "path", "asked", "error"]].values.tolist() == [
        ["team", str(stores / "team"), "glob", "StoreNotFound"]
    ]
    assert "no memory store in it" in problems["reason"][0]


def test_what_lies_in_a_store_is_no_problem_of_a_glob_at_any_depth(stores):
    fleet = many(stores / "**")
    assert list(fleet) == sorted(["阿澈 的库", "a=b%20c", "layers", "team/x", "team/y"])
    assert fleet.problems()["path"].tolist() == [str(stores), str(stores / "team")]


def test_a_named_path_that_is_missing_is_a_problem_and_the_others_answer(stores):
    fleet = many([stores / "layers", stores / "gone"])
    assert list(fleet) == ["layers"]
    assert fleet.problems()["store"].tolist() == ["gone"]
    assert len(fleet.entries()) == len(alone(stores / "layers").entries())


def test_a_missing_path_is_a_problem_with_a_layout_too_and_begins_no_store(tmp_path):
    fleet = many([tmp_path / "gone", tmp_path], layout="layers")
    assert len(fleet) == 0
    assert fleet.problems()["error"].tolist() == ["StoreNotFound"] * 2
    assert list(tmp_path.iterdir()) == []


def test_an_ambiguous_folder_is_a_problem_and_a_layout_decides_it(copied):
    root = copied("archive") / ".agents/nutstore-sync/memory"
    shutil.copytree(SAMPLES / "layers/dsh-memory-layers/cold", root / "cold")
    assert many([root]).problems()["error"].tolist() == ["AmbiguousStore"]
    assert many([root], layout="layers").stores()["layout"].tolist() == ["layers"]


def test_two_ways_into_a_store_are_one_store_called_after_the_outer(tmp_path):
    root = Path(shutil.copytree(SAMPLES / "archive", tmp_path / "vault", dirs_exist_ok=True)) / ".agents/nutstore-sync/memory"
    (tmp_path / "link").symlink_to(tmp_path / "vault")
    for given in ([root, tmp_path / "vault"], [tmp_path / "vault", root], [tmp_path / "*"]):
        fleet = many(given)
        assert len(fleet) == 1
        assert fleet.problems().empty


def test_two_stores_of_one_vault_have_names_of_their_own(tmp_path):
    agents = tmp_path / "vault/.agents"
    for plugin in ("one", "two"):
        shutil.copytree(SAMPLES / "archive/.agents/nutstore-sync/memory", agents / plugin / "memory")
    assert list(many([agents / "one/memory", agents / "two/memory"])) == [
        "vault/.agents/one/memory",
        "vault/.agents/two/memory",
    ]


def test_a_folder_whose_name_looks_like_a_glob_is_meant_itself(tmp_path):
    shutil.copytree(SAMPLES / "layers", tmp_path / "[ab]")
    shutil.copytree(SAMPLES / "layers", tmp_path / "a")
    assert list(many(tmp_path / "[ab]")) == ["[ab]"]


def test_home_is_known_in_globs(stores, monkeypatch):
    monkeypatch.setenv("HOME", str(stores))
    monkeypatch.setenv("USERPROFILE", str(stores))
    assert list(many("~/team/*")) == ["x", "y"]


def test_a_glob_that_matches_nothing_says_so(stores):
    with pytest.raises(memkit.StoreNotFound, match=r"no folder matches \(the nearest that exists is .*\); correct the glob"):
        many(stores / "nobody-*")
    fleet = many([stores / "nobody-*", stores / "layers"])
    assert len(fleet) == 1
    assert fleet.problems()["error"].tolist() == ["StoreNotFound"]


@pytest.mark.parametrize("paths", [[], None, 7, b"x", "", [None]])
def test_what_is_no_path_is_refused(paths):
    with pytest.raises(memkit.BadArgument, match=r"^paths: "):
        many(paths)


@pytest.mark.parametrize("workers", [0, -1, True, 1.5, "two"])
def test_workers_are_a_whole_number(stores, workers):
    with pytest.raises(memkit.BadArgument, match=r"^workers: "):
        many(stores / "*", workers=workers)


def test_no_more_processes_than_stores(stores):
    assert many(stores / "team/*", workers=50).workers == 2
    assert many(stores / "team/x", workers=None).workers == 1


def test_one_store_is_opened_by_its_name(one, stores):
    assert one["team/x"].root == alone(stores / "team/x").root
    pd.testing.assert_frame_equal(one["team/x"].entries(), alone(stores / "team/x").entries())
    with pytest.raises(memkit.BadArgument, match="stores\\(\\) lists their names"):
        one["nobody"]


# ---- what they answer ----


@pytest.mark.parametrize("name", [*NOUNS, *QUESTIONS])
def test_a_frame_is_those_of_the_stores_with_their_names_first(one, two, stores, name):
    terms = QUESTIONS.get(name, ())
    found = getattr(one, name)(*terms)
    parts = {each: getattr(alone(stores / each), name)(*terms) for each in one}
    assert found.columns[0] == "store"
    for each, part in parts.items():
        own = found[found["store"] == each].drop(columns="store").reset_index(drop=True)
        pd.testing.assert_frame_equal(own, part)
    assert len(found) == sum(map(len, parts.values()))
    assert found["store"].dtype == schema.STR
    pd.testing.assert_frame_equal(getattr(two, name)(*terms), found)


@pytest.mark.parametrize("name", [*NOUNS, *QUESTIONS])
def test_a_fleet_without_stores_answers_with_the_same_dtypes(tmp_path, one, name):
    terms = QUESTIONS.get(name, ())
    empty = getattr(many([tmp_path]), name)(*terms)
    assert len(empty) == 0
    assert empty.dtypes.to_dict() == getattr(one, name)(*terms).dtypes.to_dict()


def test_editable_entries_have_their_digest_and_dreams_are_asked_for(two, stores):
    frame = two.entries(editable=True, dreams=True)
    own = frame[frame["store"] == "layers"].drop(columns="store").reset_index(drop=True)
    pd.testing.assert_frame_equal(own, alone(stores / "layers").entries(editable=True, dreams=True))
    assert str(frame["digest"].dtype) == "Int64"


def test_search_gives_the_entries_that_each_store_finds(one, two, stores):
    found = one.search("的", limit=3)
    assert found.groupby("store").size().max() <= 3
    for name in one:
        own = found[found["store"] == name].drop(columns="store").reset_index(drop=True)
        pd.testing.assert_frame_equal(own, alone(stores / name).search("的", limit=3).entries)
    pd.testing.assert_frame_equal(two.search("的", limit=3), found)
    with pytest.raises(memkit.BadArgument):
        one.search("")


def test_the_overview_has_a_row_for_each_store(one, two, stores):
    frame = one.overview()
    assert frame["store"].tolist() == list(one)
    facts = alone(stores / "layers").overview()["value"]
    row = frame.set_index("store").loc["layers"]
    for name in ("layout", "root", "entries", "chars", "tags", "hot.limit", "cold.files", "summaries.week.files"):
        assert row[name] == facts[name]
    assert str(row["first"].date()) == facts["first"]
    pd.testing.assert_frame_equal(two.overview(), frame)
    assert many([stores / "nothing"]).overview().dtypes.to_dict() == frame.dtypes.to_dict()


@pytest.mark.parametrize(
    ("ask", "argument"),
    [
        (lambda fleet: fleet.volume("moon"), "by"),
        (lambda fleet: fleet.volume("store", total=True), "total"),
        (lambda fleet: fleet.recent(0), "days"),
        (lambda fleet: fleet.between("2025-02-30", "2025-03-01"), "start"),
        (lambda fleet: fleet.tagged(" "), "tag"),
        (lambda fleet: fleet.matching("x", mode="xor"), "mode"),
        (lambda fleet: fleet.audit(off="no-such-rule"), "audit settings"),
        (lambda fleet: fleet.summarize_all("year"), "period"),
        (lambda fleet: fleet.summarize_all("week", since="2025-02-02", until="2025-02-01"), "since"),
        (lambda fleet: fleet.export(7), "dir"),
    ],
)
def test_an_argument_that_no_store_can_take_is_refused_at_once(one, ask, argument):
    with pytest.raises(memkit.BadArgument, match=f"^{argument}: "):
        ask(one)


# ---- volume ----


@pytest.mark.parametrize("by", ["day", "week", "month", "year", "weekday", "hour", "label", "kind", "path", "tag"])
def test_the_total_is_the_volume_of_all_entries_as_one_frame(two, by):
    entries, tags = two.entries(), two.tags()
    named = entries.assign(path=entries["store"] + "/" + entries["path"])
    tags = tags.assign(path=tags["store"] + "/" + tags["path"])
    from memkit import dates, stats

    expected = stats.volume(named, by, tags=tags, tz=dates.zone(ZONE)).astype({"chars": "int64", "cumulative_chars": "int64"})
    pd.testing.assert_frame_equal(two.volume(by, total=True), expected)


def test_volume_by_store_has_a_row_for_each_the_largest_first(two):
    frame = two.volume("store")
    entries = two.entries()
    assert frame["chars"].is_monotonic_decreasing
    assert frame.set_index("store")["entries"].to_dict() == entries["store"].value_counts().to_dict()
    assert frame.set_index("store")["active_days"].to_dict() == entries.groupby("store")["date"].nunique().to_dict()
    assert frame["share"].sum() == pytest.approx(1)


def test_totals_pass_the_bounds_of_32_bits():
    from memkit import stats

    sums = schema.rows(stats.sums_schema(), [(None, "2025-01-01", 1, 2**31, 2**32), (None, "2025-01-02", 1, 5, 5)])
    frame = stats.volume_of(sums, "month", 2**31 + 5)
    assert frame[["chars", "bytes"]].values.tolist() == [[2**31 + 5, 2**32 + 5]]


def test_tokens_are_counted_in_other_processes_too(one, two):
    frame = two.volume("year", tokenizer=len)
    assert (frame["tokens"] == frame["chars"]).all()
    assert two.volume("year", total=True, tokenizer=len)["tokens"].sum() == one.volume("store")["chars"].sum()
    with pytest.raises(memkit.BadArgument, match="workers=1"):
        two.volume(tokenizer=lambda text: 1)
    assert one.volume(tokenizer=lambda text: 1)["tokens"].sum() == len(one.entries())


# ---- audit ----


def test_the_audit_names_the_store_of_each_finding(one, two, stores, tmp_path):
    assert one.audit().ok
    shutil.copytree(SAMPLES / "broken/bom", tmp_path / "坏")
    shutil.copytree(SAMPLES / "layers", tmp_path / "good")
    report = many(tmp_path / "*").audit()
    assert not report.ok
    assert report.stores == 2
    assert list(report.frame.columns) == ["store", *schema.FINDINGS]
    assert report.frame["store"].tolist() == ["坏"]
    own = report.frame.drop(columns="store")
    pd.testing.assert_frame_equal(own, alone(tmp_path / "坏").audit().frame)
    assert report.by_store()["store"].tolist() == ["坏"]
    assert sum(report.counts.values()) == 1
    shown = report._repr_mimebundle_()
    assert "2 stores audited, 1 store with findings" in shown["text/plain"]
    assert "坏/" in shown["text/plain"]
    assert "坏/" in shown["text/html"]
    pd.testing.assert_frame_equal(two.audit().frame, one.audit().frame)


@pytest.mark.parametrize("closed", ["", "cold", "memory"])
def test_a_store_that_may_not_be_looked_into_is_not_ok_even_if_a_glob_matched_it(tmp_path, monkeypatch, closed):
    shutil.copytree(SAMPLES / "layers/dsh-memory-layers", tmp_path / "u/b")
    (tmp_path / "u/a" / closed).mkdir(parents=True)
    (tmp_path / "u/plain/folder").mkdir(parents=True)
    real = os.scandir

    def scandir(path="."):
        if os.fspath(path).rstrip("/") == str(tmp_path / "u/a" / closed).rstrip("/"):
            raise PermissionError(13, "Permission denied", os.fspath(path))
        return real(path)

    monkeypatch.setattr(os, "scandir", scandir)  # root may read everything
    fleet = many(tmp_path / "u/*")
    report = fleet.audit()
    assert not report.ok
    assert report.problems[["store", "asked", "error"]].values.tolist() == [["a", "open", "DiskError"]]
    assert "it cannot be looked into (permission denied); allow reading it" in report.problems["reason"][0]
    assert fleet.problems()["store"].tolist() == ["a", "plain"]


def test_an_audit_of_no_store_is_not_ok(tmp_path):
    (tmp_path / "u/a").mkdir(parents=True)
    report = many(tmp_path / "u/*").audit()
    assert report.stores == 0
    assert not report.ok
    assert "no store was audited" in repr(report)
    assert "no findings" not in repr(report)
    assert "no store was audited" in report._html()


def test_a_store_whose_folder_is_gone_is_not_begun_anew(copied):
    copied("layers")
    folder = copied("archive").parent
    fleet = many(folder / "*")
    shutil.rmtree(folder / "archive")
    with pytest.raises(memkit.StoreNotFound, match="the folder is gone"):
        fleet["archive"]
    assert not (folder / "archive").exists()


def test_a_store_that_cannot_be_audited_is_not_ok(stores):
    report = many([stores / "layers", stores / "gone<b>"]).audit()
    assert report.frame.empty
    assert not report.ok
    shown = report._repr_mimebundle_()
    assert "1 store could not be audited" in shown["text/plain"]
    assert "<b>" not in shown["text/html"].replace("<b>1", "")
    assert "gone&lt;b&gt;" in shown["text/html"]


def test_a_fleet_shows_its_stores_and_how_many_problems(one):
    shown = one._repr_mimebundle_()
    for text in shown.values():
        assert "5 stores: 2 archive · 2 layers · 1 workspace" in text
        assert "阿澈 的库" in text
        assert "1 problem: see problems()" in text
    assert repr(one) == shown["text/plain"]


# ---- the clock ----


def test_the_clock_is_read_once_for_all_stores_and_need_not_be_sendable(paths):
    times = iter([datetime.fromisoformat(CLOCK)])
    with many(paths, workers=2, now=lambda: next(times)) as fleet:
        assert fleet.recent(1)["date"].dropna().eq(pd.Timestamp("2025-02-28")).all()
        assert next(times, None) is None


# ---- one store that fails ----


def test_a_store_that_goes_away_costs_a_row_and_nothing_else(copied):
    copied("layers"), copied("archive")
    folder = copied("workspace").parent
    fleet = many(folder / "*")
    before = fleet.entries()
    shutil.rmtree(folder / "archive")
    pd.testing.assert_frame_equal(fleet.entries(), before[before["store"] != "archive"].reset_index(drop=True))
    assert fleet.problems()[["store", "asked", "error"]].values.tolist() == [["archive", "entries", "StoreNotFound"]]


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="root may read everything")
def test_a_folder_that_may_not_be_read_is_no_empty_store(copied):
    root = copied("layers") / "dsh-memory-layers"
    fleet = many(root)
    root.chmod(0)
    try:
        assert fleet.entries().empty
        assert fleet.problems()["error"].tolist() == ["PermissionError"]
    finally:
        root.chmod(0o755)


def test_a_root_that_may_not_be_looked_into_is_said(one, monkeypatch):
    from memkit import files

    def names_in(root, folder):
        if "team" in root.parts:
            raise PermissionError(13, "Permission denied", str(root))
        return []

    monkeypatch.setattr(files, "names_in", names_in)
    assert set(one.days()["store"]) == set(one) - {"team/x", "team/y"}
    assert one.problems()["error"].tolist() == ["StoreNotFound", "PermissionError", "PermissionError"]


def test_whatever_a_store_raises_is_its_own_problem(one, monkeypatch):
    true = memkit.Store.entries

    def entries(self, **options):
        if self.layout == "workspace":
            raise PermissionError(13, "Permission denied", "MEMORY.md")
        return true(self, **options)

    monkeypatch.setattr(memkit.Store, "entries", entries)
    assert set(one.entries()["store"]) == set(one) - {"layers"}  # a store of that name, of the layout workspace
    assert one.problems()["error"].tolist() == ["PermissionError", "StoreNotFound"]
    monkeypatch.undo()
    one.entries()
    assert one.problems()["asked"].tolist() == ["glob"]


def crash_on_y(text):
    """Count the characters of a text, and end the process at a certain one."""
    if "把这一行读完就退出" in text:
        os._exit(3)
    return len(text)


def test_a_process_that_dies_costs_only_the_store_it_died_of(copied, tmp_path):
    folder = copied("layers").parent
    for number in range(40):
        shutil.copytree(folder / "layers", folder / f"s{number:02d}")
    day = folder / "s17/dsh-memory-layers/cold/2025-02/2025-02-28.md"
    with day.open("a", encoding="utf-8", newline="\n") as handle:
        handle.write("- [2025-02-28T10:00:00.000Z] [计划] 把这一行读完就退出\n")
    with many(folder / "*", workers=2) as fleet:
        frame = fleet.volume("year", tokenizer=crash_on_y)
        assert set(frame["store"]) == set(fleet) - {"s17"}
        problems = fleet.problems()
        assert problems[["store", "error"]].values.tolist() == [["s17", "BrokenProcessPool"]]
        assert "open it alone" in problems["reason"][0]
        assert len(fleet.volume("store")) == 41


# ---- processes ----

SCRIPT = """
    import signal, sys, time, threading, multiprocessing
    import memkit

    signal.signal(signal.SIGINT, signal.default_int_handler)  # tests in the background of a shell inherit that it is ignored

    def slow(text):
        time.sleep(1)  # there is always work left when the signal comes, also on a busy machine
        return 1

    if __name__ == "__main__":
        fleet = memkit.open_many(sys.argv[1], tz="UTC", workers=2)
        fleet.volume()
        print(*(child.pid for child in multiprocessing.active_children()), flush=True)
        try:
            fleet.volume(tokenizer=slow)
        except KeyboardInterrupt:
            print("interrupted", *multiprocessing.active_children(), flush=True)
            print(len(fleet.entries()) > 0, flush=True)
"""


def is_alive(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    stat = Path(f"/proc/{pid}/stat")
    return not stat.exists() or stat.read_text().rpartition(")")[2].split()[0] != "Z"


def gone(pids, seconds=20):
    end = time.monotonic() + seconds
    while any(map(is_alive, pids)) and time.monotonic() < end:
        time.sleep(0.05)
    return not any(map(is_alive, pids))


def started(tmp_path, stores):
    script = tmp_path / "script.py"
    script.write_text(textwrap.dedent(SCRIPT), encoding="utf-8")
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    process = subprocess.Popen([sys.executable, str(script), str(stores / "team/*")], start_new_session=True, **pipes)
    pids = [int(pid) for pid in process.stdout.readline().split()]
    assert len(pids) == 2, process.communicate(timeout=60)[1]
    return process, pids


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
def test_ctrl_c_ends_the_workers_and_the_fleet_can_go_on(tmp_path, stores):
    process, pids = started(tmp_path, stores)
    time.sleep(0.5)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does: to all of them
    out, err = process.communicate(timeout=60)
    assert out.split("\n")[:2] == ["interrupted", "True"]
    assert err == ""
    assert gone(pids)


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
def test_workers_end_when_their_fleet_is_killed(tmp_path, stores):
    process, pids = started(tmp_path, stores)
    assert all(map(is_alive, pids))
    process.kill()
    process.communicate(timeout=60)
    assert gone(pids)


def test_a_script_without_a_guard_is_told_what_to_do(tmp_path, stores):
    script = tmp_path / "script.py"
    script.write_text(f"import memkit\nmemkit.open_many({str(stores / 'team/*')!r}, workers=2).entries()\n", encoding="utf-8")
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 1
    assert 'workers: no worker process can start; a script needs `if __name__ == "__main__":`' in done.stderr


def test_no_process_is_started_for_what_is_done_in_a_moment(tmp_path, stores):
    script = tmp_path / "script.py"
    text = f"""
        import multiprocessing, memkit
        fleet = memkit.open_many({str(stores / "team/*")!r}, tz="UTC")
        print(fleet.workers, len(fleet.entries()), len(multiprocessing.active_children()))
    """
    script.write_text(textwrap.dedent(text), encoding="utf-8")
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, timeout=120, check=True)
    workers, entries, processes = map(int, done.stdout.split())
    assert (workers > 1, entries > 0, processes) == ((os.cpu_count() or 1) > 1, True, 0)


def test_the_stores_left_after_a_moment_are_asked_by_processes_in_the_same_order(paths, one, monkeypatch):
    from memkit.fleet import crew

    monkeypatch.setattr(crew, "PATIENCE", 0)
    monkeypatch.setattr(crew, "_processors", lambda: 2)
    with many(paths, workers=None) as fleet:
        pd.testing.assert_frame_equal(fleet.entries(), one.entries())
        assert fleet._crew._pool.started
        pd.testing.assert_frame_equal(fleet.entries(), one.entries())


def test_a_closed_fleet_answers_again(paths):
    with many(paths, workers=2) as fleet:
        first = fleet.gaps()
    pd.testing.assert_frame_equal(fleet.gaps(), first)
    fleet.close()


# ---- summaries ----


def test_summaries_of_all_stores_lie_in_folders_of_their_names(two, one, stores, tmp_path):
    done = two.summarize_all("week", out=tmp_path / "sums")
    assert list(done.columns) == ["store", "row", "action", "reason"]
    assert set(done["store"]) == set(two)
    for name in two:
        held = sorted((tmp_path / "sums" / dataset.folder_of(name) / "week").glob("*.md"))
        alone(stores / name).summarize_all("week", out=tmp_path / "alone", progress=False)
        assert [path.read_bytes() for path in held] == [
            path.read_bytes() for path in sorted((tmp_path / "alone/week").glob("*.md"))
        ]
        shutil.rmtree(tmp_path / "alone")
    assert not one.summarize_all("week", out=tmp_path / "sums")["action"].isin(["create", "new"]).any()


def test_a_layout_without_a_place_for_summaries_is_a_problem_of_that_store(copied):
    folder = copied("layers").parent
    copied("archive")
    fleet = many(folder / "*")
    done = fleet.summarize_all("month")
    assert set(done["store"]) <= {"layers"}
    assert fleet.problems()[["store", "error"]].values.tolist() == [["archive", "BadArgument"]]
    assert "pass out=" in fleet.problems()["reason"][0]


def test_a_dry_run_writes_nothing(one, tmp_path):
    assert len(one.summarize_all("week", out=tmp_path / "sums", dry_run=True))
    assert list(tmp_path.iterdir()) == []


def test_no_output_goes_into_any_of_the_stores(one, stores):
    for write in (lambda folder: one.export(folder), lambda folder: one.summarize_all("day", out=folder)):
        with pytest.raises(memkit.PathError, match="inside the memory store"):
            write(alone(stores / "team/y").root / "out")
