"""The notebooks: each runs from top to bottom on a copy, and is stored with the small outputs that it gives now.

When outputs change: copy notebooks/ and data-samples/ to /home/you/memkit, run `jupyter execute --inplace` there and copy
the notebooks back, so that nobody's own folder is stored; without what names a widget's model, which ends with its kernel.
"""

import re
import shutil
from pathlib import Path

import nbformat
import pytest
from conftest import SAMPLES
from nbclient import NotebookClient

NOTEBOOKS = sorted((Path(__file__).parents[1] / "notebooks").glob("*.ipynb"))
MOST_BYTES = 250_000  # charts are stored as a spec and as SVG, for where there is no Vega
VIEW = "application/vnd.jupyter.widget-view+json"  # names a model of a kernel that is gone: it is not stored
FOLDER = re.compile(r"  [/…].*?(?=\n[\d,]+ entr)", re.DOTALL)
STARTS = (
    r"(archive|workspace|layers)  [/…]",
    r"Explorer\(",
    "Characters ",
    "Entries by ",
    "no findings",
    "(not )?applied: ",
    "'?# 周摘要",
)
OWN = re.compile(f"^({'|'.join(STARTS)})")


@pytest.fixture
def beside(tmp_path, monkeypatch):
    """Return a folder for notebooks beside a copy of the samples; Jupyter keeps its own files in a folder of the test."""
    for name in ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "IPYTHONDIR"):
        own = tmp_path / "jupyter" / name.lower()
        own.mkdir(parents=True)
        monkeypatch.setenv(name, str(own))
    monkeypatch.setenv("JUPYTER_PLATFORM_DIRS", "1")
    shutil.copytree(SAMPLES, tmp_path / "data-samples")
    (tmp_path / "notebooks").mkdir()
    return tmp_path / "notebooks"


def executed(path, folder):
    """Return a notebook as stored, and the same one executed in a folder."""
    stored = nbformat.read(path, as_version=4)
    fresh = nbformat.from_dict(stored)
    for cell in fresh.cells:
        if cell.cell_type == "code":
            cell.outputs = []
    client = NotebookClient(fresh, timeout=120, kernel_name="python3", resources={"metadata": {"path": str(folder)}})
    return stored, client.execute()


def outputs(notebook):
    """Yield (cell number, output) of the code cells."""
    for number, cell in enumerate(notebook.cells):
        if cell.cell_type == "code":
            yield from ((number, output) for output in cell.outputs)


def kinds_of(output):
    """Return the MIME types of an output that are stored."""
    return sorted(set(output.get("data", ())) - {VIEW})


def own_texts(notebook):
    """Return what memkit itself printed by cell, without the folder in which it ran."""
    texts = {number: output["data"]["text/plain"] for number, output in outputs(notebook) if "data" in output}
    return {number: FOLDER.sub("  …", text, count=1) for number, text in texts.items() if OWN.match(text)}


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.name)
class TestNotebook:
    def test_it_runs_and_its_outputs_are_those_stored(self, path, beside):
        stored, fresh = executed(path, beside)
        kinds = [[(number, kinds_of(output)) for number, output in outputs(one)] for one in (stored, fresh)]
        assert kinds[0] == kinds[1]
        assert own_texts(stored) == own_texts(fresh)
        assert len(own_texts(fresh)) >= 3

    def test_it_is_stored_small_in_order_and_without_errors(self, path):
        notebook = nbformat.read(path, as_version=4)
        nbformat.validate(notebook)
        assert path.stat().st_size < MOST_BYTES
        counts = [cell.execution_count for cell in notebook.cells if cell.cell_type == "code"]
        assert counts == list(range(1, len(counts) + 1))
        assert not any(VIEW in output.get("data", ()) for _, output in outputs(notebook))
        assert {output.output_type for _, output in outputs(notebook)} <= {"execute_result", "display_data"}
        roots = re.findall(r"(/[^\s\"<>]+)/data-samples", "".join(map(str, notebook.cells)))
        assert set(roots) <= {"/home/you/memkit"}

    def test_every_text_is_there_in_both_languages(self, path):
        for cell in nbformat.read(path, as_version=4).cells:
            if cell.cell_type == "markdown":
                assert re.search(r"[a-z]{3}", cell.source)
                assert re.search(r"[一-鿿]", cell.source)


def test_there_is_a_first_notebook():
    assert NOTEBOOKS[0].name == "01-volume.ipynb"
