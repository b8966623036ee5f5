"""The entries of a fleet as a partitioned Parquet dataset: read back by pyarrow, DuckDB and Polars, replaced, refused."""

from __future__ import annotations

import shutil

import pandas as pd
import pyarrow as pa
import pyarrow.dataset as ds
import pytest
from conftest import SAMPLES
from test_fleet import many

import memkit
from memkit import schema
from memkit.fleet import dataset

NAMES = ("阿澈 的库", "a=b%20c", 'q"{x}', "plain", "末尾.")
SCHEMA = pa.schema([("store", pa.string()), ("year", pa.int32())])


@pytest.fixture(scope="module")
def stores(tmp_path_factory):
    """Return a folder of stores of all layouts with unusual names, which no test changes."""
    folder = tmp_path_factory.mktemp("export")
    layouts = ("archive", "layers", "workspace", "workspace", "layers")
    for name, layout in zip(NAMES, layouts, strict=True):
        shutil.copytree(SAMPLES / layout, folder / name)
    return folder


@pytest.fixture(scope="module")
def fleet(stores):
    with many(stores / "*", workers=2) as fleet:
        yield fleet


@pytest.fixture(scope="module")
def exported(fleet, tmp_path_factory):
    folder = tmp_path_factory.mktemp("out") / "entries"
    return folder, fleet.export(folder)


@pytest.fixture(scope="module")
def expected(fleet):
    """Return what is in the dataset: where each entry stands, and its text."""
    entries = fleet.entries(dreams=True)
    years = entries["date"].dt.year.astype("Int64")
    return sorted(zip(entries["store"], years.fillna(0), entries["path"], entries["line"], entries["text"], strict=True))


def rows(stores, years, paths, lines, texts):
    plain = [0 if pd.isna(year) else int(year) for year in years]
    return sorted(zip(stores, plain, paths, lines, texts, strict=True))


def files_in(folder):
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


def test_the_frame_says_what_was_written(exported, fleet):
    folder, written = exported
    assert list(written.columns) == ["store", *dataset.WRITTEN]
    assert written.dtypes.to_dict() == {"store": schema.STR, **dataset.WRITTEN}
    assert sorted(written["file"]) == files_in(folder)
    assert written.groupby("store")["rows"].sum().to_dict() == fleet.entries(dreams=True)["store"].value_counts().to_dict()
    assert [(folder / file).stat().st_size for file in written["file"]] == written["bytes"].tolist()
    assert written["year"].isna().any()


def test_pyarrow_reads_the_partitions(exported, expected):
    table = ds.dataset(exported[0], partitioning=ds.partitioning(SCHEMA, flavor="hive")).to_table()
    assert rows(*(table[name].to_pylist() for name in ("store", "year", "path", "line", "text"))) == expected
    assert table.schema.field("date").type == pa.timestamp("ms")
    assert table.schema.field("kind").type == pa.dictionary(pa.int8(), pa.string())


def test_pandas_reads_the_partitions(exported, expected):
    frame = pd.read_parquet(exported[0], partitioning=ds.partitioning(flavor="hive"))
    assert rows(*(frame[name] for name in ("store", "year", "path", "line", "text"))) == expected


@pytest.mark.parametrize("where", ["**/*.parquet", "*/*/*.parquet"])
def test_duckdb_reads_the_partitions(exported, expected, where):
    duckdb = pytest.importorskip("duckdb")
    query = "select store, year, path, line, text from read_parquet(?, hive_partitioning = true)"
    found = duckdb.execute(query, [str(exported[0] / where)]).fetchall()
    assert rows(*zip(*found, strict=True)) == expected


@pytest.mark.parametrize("where", ["", "**/*.parquet"])
def test_polars_reads_the_partitions(exported, expected, where):
    polars = pytest.importorskip("polars")
    frame = polars.scan_parquet(exported[0] / where, hive_partitioning=True).collect()
    assert rows(*(frame[name].to_list() for name in ("store", "year", "path", "line", "text"))) == expected


def test_names_that_mean_something_in_a_path_are_escaped():
    assert dataset.folder_of("阿澈 的库") == "阿澈 的库"
    assert dataset.folder_of("a=b%20c/x") == "a%3Db%2520c%2Fx"
    assert dataset.folder_of("..") == "%2E%2E"
    assert dataset.folder_of("末尾. ") == "末尾%2E%20"


def test_an_export_again_replaces_the_earlier_one(stores, tmp_path):
    out = tmp_path / "out"
    first = many(stores / "*").export(out)
    inode = {file: (out / file).stat().st_mtime_ns for file in first["file"]}
    leftover = out / f"store=plain/year=2025/.part.parquet.{'ab' * 6}.tmp"  # of an export that was killed
    leftover.write_bytes(b"x")
    again = many([stores / "plain", stores / "a=b%20c"]).export(out)
    assert files_in(out) == sorted(again["file"])
    assert all((out / file).stat().st_mtime_ns >= inode[file] for file in again["file"])
    assert {path.name for path in out.iterdir()} == {"store=plain", "store=a%3Db%2520c"}


@pytest.mark.parametrize(
    "file", ["notes.txt", "store=plain/notes.txt", "store=plain/year=2025/mine.parquet", "store=plain/year=2025/part.parquet"]
)
def test_what_no_export_wrote_is_left_alone_and_said(stores, tmp_path, file):
    foreign = tmp_path / "out" / file
    foreign.parent.mkdir(parents=True)
    pd.DataFrame({"a": [1]}).to_parquet(foreign) if file.endswith("parquet") else foreign.write_text("mine")
    before = foreign.read_bytes()
    with pytest.raises(memkit.ExportError, match="which no export of a fleet wrote; choose another folder"):
        many(stores / "*").export(tmp_path / "out")
    assert files_in(tmp_path / "out") == [file]
    assert foreign.read_bytes() == before


def test_a_store_that_gave_no_answer_keeps_what_an_earlier_export_wrote_of_it(stores, tmp_path):
    shutil.copytree(stores, tmp_path / "stores")
    fleet = many(tmp_path / "stores/*")
    first = fleet.export(tmp_path / "out")
    before = {file: (tmp_path / "out" / file).read_bytes() for file in first.loc[first["store"] == "plain", "file"]}
    assert before
    shutil.rmtree(tmp_path / "stores/plain")
    again = fleet.export(tmp_path / "out")
    assert fleet.problems()["store"].tolist() == ["plain"]
    assert "plain" not in set(again["store"])
    assert {file: (tmp_path / "out" / file).read_bytes() for file in before} == before
    many(tmp_path / "stores/*").export(tmp_path / "out")  # of this fleet it is no longer a part
    assert not (tmp_path / "out/store=plain").exists()


@pytest.mark.parametrize("inside", ["", "archive/out", "new/deeper"])
def test_a_folder_in_a_store_that_is_not_of_the_fleet_is_refused(stores, tmp_path, inside):
    shutil.copytree(SAMPLES / "layers/dsh-memory-layers", tmp_path / "other")
    before = files_in(tmp_path / "other")
    with pytest.raises(memkit.PathError, match="it lies inside the memory store"):
        many(stores / "plain").export(tmp_path / "other" / inside)
    assert files_in(tmp_path / "other") == before


def test_what_a_file_browser_left_is_no_reason_to_refuse(stores, tmp_path):
    out = tmp_path / "out"
    first = many(stores / "*").export(out)
    left = [".DS_Store", "store=plain/Thumbs.db", "store=plain/year=2025/._part.parquet"]
    for name in left:
        (out / name).write_bytes(b"x")
    many(stores / "*").export(out)
    assert files_in(out) == sorted([*first["file"], *left])


# ---- names that readers take for something else ----

ODD = (
    ("007", "7"),
    ("7", "8"),
    ("2024-01-01", "2024-01-02"),
    ("1.5", "1.50", "1e3"),
    ("true", "FALSE"),
    ("null", "NULL", "nan"),
)
READERS = ("pandas", "pyarrow", "polars", "polars folder", "duckdb", "dask", "dask as it is")


def read_by(reader, folder):
    """Return the columns store, year, path, line, text as a reader gives them without being told anything."""
    if reader == "pandas":
        return pd.read_parquet(folder)
    if reader == "pyarrow":
        return ds.dataset(folder, partitioning="hive").to_table().to_pandas()
    if reader.startswith("dask"):
        dask = pytest.importorskip("dask.dataframe")
        told = {"dataset": {"partitioning": ds.partitioning(SCHEMA, flavor="hive")}} if reader == "dask" else {}
        return dask.read_parquet(folder, **told).compute()
    if reader == "duckdb":
        duckdb = pytest.importorskip("duckdb")
        return duckdb.execute("select * from read_parquet(?, hive_partitioning = true)", [str(folder / "**/*.parquet")]).df()
    polars = pytest.importorskip("polars")
    frame = polars.scan_parquet(
        folder if reader == "polars folder" else folder / "**/*.parquet", hive_partitioning=True
    ).collect()
    return pd.DataFrame({name: frame[name].to_list() for name in ("store", "year", "path", "line", "text")})


@pytest.mark.filterwarnings("ignore:The inplace keyword")  # Dask's own
@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize(
    "names",
    [*ODD, tuple(dict.fromkeys(name for names in ODD for name in names)), ("7", "plain", "007"), ("7", "(text)")],
    ids="·".join,
)
def test_every_reader_has_the_names_of_the_stores_as_they_are(names, reader, tmp_path):
    if reader == "dask as it is" and {"7", "007"} <= {*names}:
        pytest.skip("it reads each file by itself, and 007 as a number")
    for name in names:
        folder = tmp_path / "stores" / name
        (folder / "memory").mkdir(parents=True)
        (folder / "MEMORY.md").write_text(f"- 没有日期的一条，属于 {name}\n", encoding="utf-8")
        (folder / "memory/2025-02-01.md").write_text(f"- 有日期的一条，属于 {name}\n", encoding="utf-8")
    fleet = many(tmp_path / "stores/*")
    written = fleet.export(tmp_path / "out")
    assert set(written["store"]) == {*names}
    entries = fleet.entries(dreams=True)
    years = entries["date"].dt.year.fillna(0)
    expected = rows(entries["store"], years, entries["path"], entries["line"], entries["text"])
    assert len(expected) == 2 * len(names)
    found = read_by(reader, tmp_path / "out")
    assert rows(*(found[name] for name in ("store", "year", "path", "line", "text"))) == expected
    assert {type(name) for name in found["store"]} == {str}


def test_the_part_without_rows_goes_when_a_name_is_text(tmp_path):
    for name in ("7", "8", "茶"):
        (tmp_path / "stores" / name).mkdir(parents=True)
        (tmp_path / "stores" / name / "MEMORY.md").write_text("- 一条\n", encoding="utf-8")
    out = tmp_path / "out"
    many([tmp_path / "stores/7", tmp_path / "stores/8"]).export(out)
    assert (out / f"store={dataset.TEXT}/year=0/part.parquet").is_file()
    written = many(tmp_path / "stores/*").export(out)
    assert files_in(out) == sorted(written["file"])


def test_a_file_in_the_place_of_the_folder_is_refused(stores, tmp_path):
    (tmp_path / "out").write_text("mine")
    with pytest.raises(memkit.PathError):
        many(stores / "*").export(tmp_path / "out")


def test_an_export_changes_no_byte_of_a_store(stores, tmp_path, fleet):
    before = {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in stores.rglob("*") if path.is_file()}
    fleet.export(tmp_path / "out")
    assert {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in stores.rglob("*") if path.is_file()} == before
