"""A fleet's entries as a Dask DataFrame, computed by two real worker processes."""

from __future__ import annotations

import shutil
import warnings

import pandas as pd
import pytest
from conftest import SAMPLES
from test_fleet import many

distributed = pytest.importorskip("distributed")


@pytest.fixture(scope="module")
def client():
    options = {"n_workers": 2, "threads_per_worker": 1, "processes": True, "dashboard_address": None, "host": "127.0.0.1"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Dask's own, about machines without a network
        with distributed.LocalCluster(**options) as cluster, distributed.Client(cluster) as client:
            yield client


@pytest.fixture
def folder(tmp_path):
    for name, layout in (("甲", "archive"), ("乙", "layers"), ("丙", "workspace"), ("c d", "layers")):
        shutil.copytree(SAMPLES / layout, tmp_path / "stores" / name)
    return tmp_path / "stores"


@pytest.mark.parametrize("options", [{}, {"dreams": True, "editable": True}])
def test_the_computed_frame_is_the_fleets_own(client, folder, options):
    fleet = many(folder / "*")
    lazy = fleet.entries(client=client, **options)
    expected = fleet.entries(**options)
    assert lazy.npartitions == 4
    assert lazy.known_divisions is False
    assert lazy.dtypes.to_dict() == expected.dtypes.to_dict()
    pd.testing.assert_frame_equal(lazy.compute().reset_index(drop=True), expected)
    pd.testing.assert_frame_equal(client.compute(lazy).result().reset_index(drop=True), expected)
    assert lazy.compute().dtypes.to_dict() == expected.dtypes.to_dict()


def test_two_processes_other_than_this_read_the_stores(client, folder):
    pids = set(client.run(lambda: __import__("os").getpid()).values())
    assert len(pids) == 2
    assert __import__("os").getpid() not in pids


def test_questions_of_dask_agree_with_those_of_pandas(client, folder):
    fleet = many(folder / "*")
    sums = fleet.entries(client=client).groupby("store")["chars"].sum().compute()
    expected = fleet.entries().groupby("store")["chars"].sum()
    assert sums.sort_index().to_dict() == expected.to_dict()


def test_a_store_that_fails_on_a_worker_is_a_problem_of_the_fleet(client, folder):
    fleet = many(folder / "*")
    lazy = fleet.entries(client=client)
    shutil.rmtree(folder / "乙")
    expected = fleet.entries()
    fleet.gaps()
    pd.testing.assert_frame_equal(lazy.compute().reset_index(drop=True), expected)
    asked = fleet.problems()
    assert asked["store"].tolist() == ["乙", "乙"]
    assert asked["asked"].tolist() == ["entries", "gaps"]
    assert asked["error"].unique().tolist() == ["StoreNotFound"]


def test_a_fleet_without_stores_has_an_empty_frame(client, tmp_path):
    fleet = many([tmp_path])
    pd.testing.assert_frame_equal(fleet.entries(client=client).compute().reset_index(drop=True), fleet.entries())
