"""The benchmarks stay true: each row runs once on a tiny store and finds what its peers find. No time is asserted."""

from pathlib import Path

import pytest
from click.testing import CliRunner

import memkit
from tests.benchmarks import __main__ as benchmarks
from tests.benchmarks import child, corpus, rows, table
from tests.benchmarks.measure import Clocked, Peer, Row, Timed, measured, tried

TINY = {"files": 100, "entries": 6, "blocks": 100, "stores": 3}
RESULTS = Path(benchmarks.__file__).parent / "RESULTS.md"


@pytest.fixture
def one_process(monkeypatch):
    """Make what a row measures in processes of their own run here: their imports would take a second each; start no browser."""

    def run(what, root, layout, *more):
        return Timed(**child.measured(what, str(root), layout, *more))

    monkeypatch.setattr(rows, "child", run)
    monkeypatch.setattr(benchmarks.notebook, "keys", lambda *places: iter(()))


def test_every_row_runs_and_finds_what_its_peers_find(tmp_path, one_process):
    names = []
    for row in benchmarks.every(tmp_path, **TINY):
        tried(row)
        names.append(row.name)
    for part in ("from the cache", "reload", "matching", "search", "volume", "audit", "append", "push", "all summaries"):
        assert any(part in name for name in names), part
    assert len(names) == len(set(names))


def test_a_child_tells_seconds_memory_and_how_many_items_it_found(tmp_path):
    corpus.build(tmp_path, "layers", files=3, entries=4)
    timed = rows.child("load", tmp_path, "layers")
    assert timed.found == 12
    assert timed.seconds > 0
    assert timed.peak_mb is None or timed.peak_mb > 0


def test_figures_are_medians_and_ratios_those_of_the_rounds():
    times = iter([Timed(9), Timed(3), Timed(1), Timed(2)])
    row = Row("ours", "theirs", lambda: next(times), lambda: Timed(2), 0.5, floor=Peer("floor", lambda: Timed(1)))
    found = measured(row, rounds=3, seconds=60)
    assert (found["rounds"], found["ours_ms"], found["floor"]["ratio"]) == (3, 2000, 2)
    assert (found["peers"][0]["ratio"], found["peers"][0]["best_ratio"]) == (1, 0.5)
    assert [cell for line in table.lines(found) for cell in line][7:9] == ["≤ 0.5 × peer", "no"]


def test_a_peer_that_finds_another_number_is_an_error():
    row = Row("ours", "theirs", lambda: Timed(1, found=3), lambda: Timed(1, found=4))
    with pytest.raises(AssertionError, match="ours: 3, but theirs: 4"):
        tried(row)


def test_a_peer_that_is_not_installed_is_a_dash():
    row = Row("ours", "theirs", Clocked(lambda: None), rows.optional("theirs", "no_such_package", lambda: Timed(1)).run)
    (line,) = table.lines(measured(row, rounds=1, seconds=1))
    assert line[4:7] == ("theirs", "-", "-")


def test_a_table_replaces_the_one_between_the_markers_alone(tmp_path):
    target = tmp_path / "results.md"
    target.write_text(f"before\n{table.BEGIN}\nold\n{table.END}\nafter\n", encoding="utf-8")
    found = measured(Row("a | b", "theirs", lambda: Timed(2), lambda: Timed(1), 3), rounds=1, seconds=1)
    table.written(target, table.markdown([found], "about"))
    text = target.read_text(encoding="utf-8")
    assert text.startswith(f"before\n{table.BEGIN}\n\nabout\n")
    assert text.endswith(f"\n{table.END}\nafter\n")
    assert "old" not in text
    assert "| a \\| b | 2,000.0 | - | - | theirs | 1,000.0 | 2.00 | ≤ 3 × peer | yes | - |" in text


@pytest.mark.parametrize("name", benchmarks.STORES)
def test_the_same_seed_gives_the_same_bytes_in_any_size(tmp_path, name):
    for folder in ("a", "b"):
        corpus.build(tmp_path / folder, name, files=5, entries=3)
    held = [
        {file.relative_to(root): file.read_bytes() for file in root.rglob("*") if file.is_file()} for root in _two(tmp_path)
    ]
    assert held[0] == held[1]
    days = memkit.open(tmp_path / "a", tz="UTC", now=rows.NOW).days()
    assert (days["entries"] > 0).sum() == 5


def _two(folder):
    return folder / "a", folder / "b"


def test_sizes_reach_from_a_month_to_a_million_entries():
    counts = [files * entries for files, entries in corpus.SIZES.values()]
    assert counts == sorted(counts)
    assert corpus.SIZES["month"][0] == 30
    assert corpus.SIZES["decade"] == (3650, 50)
    assert counts[-1] == 1_000_000


def test_the_command_writes_the_same_figures_as_json_and_as_markdown(tmp_path, one_process):
    options = ["--files", "3", "--entries", "2", "--rounds", "1", "--only", "volume", "--keep", tmp_path / "stores"]
    written = ["--json", tmp_path / "a.json", "--markdown", tmp_path / "a.md"]
    done = CliRunner().invoke(benchmarks.main, [*map(str, options + written), "--stores", "1"])
    assert done.exit_code == 0, done.output
    assert '"row": "volume by month"' in (tmp_path / "a.json").read_text(encoding="utf-8")
    assert "| volume by month |" in (tmp_path / "a.md").read_text(encoding="utf-8")


def test_the_results_can_be_written_again():
    text = RESULTS.read_text(encoding="utf-8")
    assert text.index(table.BEGIN) < text.index(table.END)
