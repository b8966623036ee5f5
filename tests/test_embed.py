"""Embeddings, against a real service in a process of its own; waits are recorded, never waited."""

import json
import logging
import os
import pickle
import socket
import sqlite3
import subprocess
import sys
import traceback
import urllib.request
import uuid
from pathlib import Path

import numpy as np
import pytest
from conftest import open_at
from embedding_server import DIM, vector
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from memkit import vectors
from memkit.embed import Settings, embed, from_environment, settings_of
from memkit.errors import BadArgument, EmbedError, MemkitError
from memkit.vectors import cosine, hash_of, hybrid, packed, provider, prune, save, stored, unpacked

KEY = "sk-Zq9-very-secret_0123456789"
SECRET = "张三的体检报告"
TEXTS = ["同步到坚果云", "决定先修目录", "tea at noon"]
ON = {"MEMORY_EMBEDDING_ENABLED": "1", "EMBEDDING_API_KEY": KEY}
PROXIES = ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"]


class Service:
    """One room of the service: its settings, what was asked in it, and the waits of who asked."""

    def __init__(self, port, mode):
        self.root = f"http://127.0.0.1:{port}/{mode}/{uuid.uuid4().hex}"
        self.settings = Settings(KEY, url=f"{self.root}/v1", model="test-model")
        self.waits = []

    def embed(self, texts, **options):
        return embed(texts, self.settings, **{"sleep": self.waits.append, **options})

    def refused(self, texts=(SECRET,), **options):
        """Return the message of the error, after looking that it gives nothing away."""
        with pytest.raises(EmbedError) as caught:
            self.embed(list(texts), **options)
        shown = "".join(traceback.format_exception(caught.value))
        assert not [word for word in (KEY, KEY[:8], SECRET) if word in shown]
        assert str(caught.value).startswith("embeddings from 127.0.0.1:")
        return str(caught.value)

    def asked(self):
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with opener.open(f"{self.root}/requests") as answer:
            return json.load(answer)


@pytest.fixture(scope="module")
def port():
    script = Path(__file__).parent / "embedding_server.py"
    process = subprocess.Popen([sys.executable, script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        yield int(process.stdout.readline())
    finally:
        process.stdin.close()
        try:
            process.wait(30)
        finally:
            process.kill()
            process.wait()
            process.stdout.close()


@pytest.fixture
def service(port):
    return lambda mode="normal": Service(port, mode)


@pytest.fixture(autouse=True)
def _no_proxy(monkeypatch):
    for name in PROXIES:
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def offline(monkeypatch):
    """Make every way to the network fail with a word that no code of ours catches."""

    class Connected(BaseException):
        pass

    def refuse(*args, **options):
        raise Connected

    for name in ("connect", "connect_ex", "sendto"):
        monkeypatch.setattr(socket.socket, name, refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    return Connected


@pytest.fixture
def database():
    connection = sqlite3.connect(":memory:")
    yield connection
    connection.close()


class TestSwitch:
    """Whether anything is sent anywhere."""

    @pytest.mark.parametrize("value", [None, "", "0", "false", "no", "off", "yes", "on", "2", "11", "truee"])
    @pytest.mark.parametrize("key", ["EMBEDDING_API_KEY", "OPENAI_API_KEY"])
    def test_a_key_alone_switches_nothing_on(self, key, value, offline):
        env = {key: KEY, **({} if value is None else {"MEMORY_EMBEDDING_ENABLED": value})}
        assert from_environment(env) is None

    @pytest.mark.parametrize("value", ["1", "true", "TRUE", "True", " 1 "])
    def test_the_switch_and_a_key_do(self, value):
        assert from_environment({**ON, "MEMORY_EMBEDDING_ENABLED": value}) == Settings(KEY)

    @pytest.mark.parametrize("key", [{}, {"EMBEDDING_API_KEY": ""}, {"OPENAI_API_KEY": " "}])
    def test_the_switch_without_a_key_does_not(self, key):
        assert from_environment({"MEMORY_EMBEDDING_ENABLED": "1", **key}) is None

    def test_the_embedding_key_comes_before_the_general_one(self):
        assert from_environment({**ON, "OPENAI_API_KEY": "other"}).key == KEY
        assert from_environment({**ON, "EMBEDDING_API_KEY": "", "OPENAI_API_KEY": "other"}).key == "other"

    def test_a_store_never_connects_with_a_key_in_the_environment(self, copied, offline, monkeypatch):
        monkeypatch.setenv("OPENAI_API_KEY", KEY)
        monkeypatch.setenv("EMBEDDING_API_KEY", KEY)
        mem = open_at(copied("workspace"))
        mem.append("买坚果")
        assert len(mem.entries())
        mem.overview(), mem.audit(), mem.matching("坚果"), repr(mem)
        assert from_environment(os.environ) is None

    def test_only_a_call_connects(self, offline):
        settings = from_environment(ON)
        assert embed([], settings).shape == (0, 0)
        with pytest.raises(offline):
            embed(TEXTS, settings)

    def test_the_process_environment_is_not_read(self, monkeypatch):
        for name, value in {**ON, "EMBEDDING_MODEL": "wrong"}.items():
            monkeypatch.setenv(name, value)
        assert from_environment({}) is None
        assert settings_of({"key": "other"}).model == "text-embedding-3-small"

    def test_a_store_is_opened_without_httpx(self):
        code = "import sys, memkit.opening, memkit.embed; print('httpx' in sys.modules)"
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        assert done.stdout == "False\n"


class TestSettings:
    def test_the_defaults_are_the_seeds(self):
        found = settings_of({"key": KEY})
        assert (found.url, found.model) == ("https://api.openai.com/v1", "text-embedding-3-small")
        assert (found.vector_weight, found.text_weight) == (0.7, 0.3)
        assert from_environment(ON) == found

    def test_every_variable_is_heard(self):
        env = {
            **ON,
            "EMBEDDING_BASE_URL": "http://localhost:11434/v1/",
            "EMBEDDING_MODEL": "bge-m3",
            "MEMORY_VECTOR_WEIGHT": "0",
            "MEMORY_TEXT_WEIGHT": "1.0",
        }
        assert from_environment(env) == Settings(
            KEY, url="http://localhost:11434/v1/", model="bge-m3", vector_weight=0, text_weight=1
        )

    def test_zero_is_a_weight(self):
        found = settings_of({"key": KEY, "vector_weight": 0, "text_weight": 0.0})
        assert (found.vector_weight, found.text_weight) == (0.0, 0.0)

    @pytest.mark.parametrize("junk", ["heavy", "-0.1", "1.1", "nan", "inf", "0,5"])
    def test_a_junk_weight_in_the_environment_is_warned_of_once_and_the_default_holds(self, junk):
        with pytest.warns(UserWarning, match=r"^MEMORY_VECTOR_WEIGHT: no number from 0 to 1") as caught:
            found = from_environment({**ON, "MEMORY_VECTOR_WEIGHT": junk})
        assert len(caught) == 1
        assert caught[0].filename == __file__
        assert found.vector_weight == 0.7

    def test_a_blank_variable_is_as_good_as_none(self):
        blank = dict.fromkeys(["EMBEDDING_BASE_URL", "EMBEDDING_MODEL", "MEMORY_VECTOR_WEIGHT", "MEMORY_TEXT_WEIGHT"], " ")
        assert from_environment({**ON, **blank}) == Settings(KEY)

    def test_nothing_is_warned_of_while_embeddings_are_off(self):
        assert from_environment({"OPENAI_API_KEY": KEY, "MEMORY_VECTOR_WEIGHT": "junk"}) is None

    @pytest.mark.parametrize(
        "bad",
        [
            {"vector_weight": -0.1}, {"vector_weight": 1.5}, {"text_weight": "0.3"}, {"text_weight": True},
            {"text_weight": float("nan")}, {"vector_weight": None}, {"url": "api.openai.com"}, {"url": ""},
            {"url": "ftp://host/v1"}, {"url": f"https://me:{KEY}@host/v1"}, {"url": f"https://host/v1?key={KEY}"},
            {"url": "https://host/v1\n"}, {"url": "https:///v1"}, {"url": None}, {"model": ""}, {"model": 7}, {"key": ""},
            {"key": None}, {"key": f"{KEY}\n"}, {"key": f"{KEY} x"}, {"key": f"{KEY}密"},
        ],
    )  # fmt: skip
    def test_a_bad_value_is_refused_by_name_and_not_repeated(self, bad):
        with pytest.raises(BadArgument, match=f"^{next(iter(bad))}: ") as caught:
            settings_of({"key": KEY, **bad})
        assert KEY not in str(caught.value)

    def test_a_bad_variable_is_refused_by_its_own_name(self):
        with pytest.raises(BadArgument, match=r"^EMBEDDING_BASE_URL: .*expected an address like"):
            from_environment({**ON, "EMBEDDING_BASE_URL": "localhost"})
        with pytest.raises(BadArgument, match=r"^OPENAI_API_KEY: "):
            from_environment({"MEMORY_EMBEDDING_ENABLED": "1", "OPENAI_API_KEY": "密 钥"})

    def test_an_unknown_and_a_missing_name_are_refused(self):
        with pytest.raises(BadArgument, match="'kye' is no part of it; expected key, url, model, vector_weight, text_weight"):
            settings_of({"kye": KEY})
        with pytest.raises(BadArgument, match=r"^key: missing; expected the key"):
            settings_of({"model": "bge-m3"})
        with pytest.raises(BadArgument, match=r"^embed: str is no dict"):
            settings_of(KEY)

    def test_settings_are_taken_as_they_are(self):
        settings = Settings(KEY, text_weight=0)
        assert settings_of(settings) is settings

    def test_the_key_is_never_shown(self):
        settings = Settings(KEY)
        assert KEY not in f"{settings!r} {settings} {[settings]}"
        assert pickle.loads(pickle.dumps(settings)) == settings

    @pytest.mark.parametrize("url", ["http://[::1]:8080/v1", "HTTPS://Host.example/v1", "http://h", "https://网址.example/v1"])
    def test_plain_addresses_are_taken(self, url):
        assert settings_of({"key": KEY, "url": url}).url == url


class TestCalls:
    def test_each_text_gets_its_row(self, service):
        room = service()
        found = room.embed(TEXTS)
        assert found.dtype == np.float32
        assert found.tolist() == [vector(text) for text in TEXTS]
        assert room.waits == []

    def test_the_call_is_the_openai_one(self, service):
        room = service()
        room.embed(TEXTS)
        call = {"path": "v1/embeddings", "authorization": f"Bearer {KEY}", "model": "test-model", "input": TEXTS}
        assert room.asked() == [call]

    def test_no_texts_are_no_call(self, service):
        room = service()
        assert room.embed([]).shape == (0, 0)
        assert room.asked() == []

    def test_rows_follow_the_index_of_the_answer(self, service):
        texts = [f"第 {number} 条" for number in range(9)]
        assert service("shuffled").embed(texts).tolist() == [vector(text) for text in texts]

    def test_many_texts_go_in_batches_and_progress_is_told(self, service):
        room, told = service("shuffled"), []
        texts = [f"note {number}" for number in range(10)]
        found = room.embed(texts, batch=4, progress=lambda done, total: told.append((done, total)))
        assert found.tolist() == [vector(text) for text in texts]
        assert [len(call["input"]) for call in room.asked()] == [4, 4, 2]
        assert told == [(4, 10), (8, 10), (10, 10)]

    @pytest.mark.parametrize("sign", ["a", "记", "😀", "é"])
    def test_a_long_text_is_cut_and_no_character_halved(self, service, sign):
        room = service()
        room.embed([sign * 9_000])
        sent = room.asked()[0]["input"][0]
        assert set(sent) == {sign}
        assert 8_000 - 4 < len(sent.encode()) <= 8_000

    def test_a_half_surrogate_is_sent_as_a_question_mark(self, service):
        room = service()
        room.embed(["bad \udcff byte"])
        assert room.asked()[0]["input"] == ["bad ? byte"]

    @pytest.mark.parametrize("texts", [["a", ""], ["a", None]])
    def test_an_empty_text_is_refused_before_any_call(self, service, texts):
        room = service()
        with pytest.raises(BadArgument, match="texts that are not empty"):
            room.embed(texts)
        assert room.asked() == []

    def test_nothing_secret_is_logged(self, service, caplog):
        caplog.set_level(logging.DEBUG)
        service().embed([SECRET])
        service("failing").refused()
        assert not [word for word in (KEY, SECRET) if word in caplog.text]


class TestTroubles:
    def test_a_busy_service_is_asked_again_when_it_wants(self, service):
        room = service("busy")
        assert room.embed(TEXTS).shape == (3, DIM)
        assert room.waits == [3, 3]
        assert [call["input"] for call in room.asked()] == [TEXTS] * 3

    def test_a_date_to_wait_for_is_counted_from_the_services_clock(self, service):
        room = service("busydate")
        room.embed(TEXTS)
        assert room.waits == [7]

    def test_a_senseless_date_leaves_the_growing_waits(self, service):
        room = service("vague")
        room.embed(TEXTS)
        assert room.waits == [0.5, 1, 2]

    def test_a_failing_service_is_tried_five_times(self, service):
        room = service("failing")
        assert room.refused().endswith(": the service fails (500 server_error); try again later")
        assert room.waits == [0.5, 1, 2, 4]
        assert len(room.asked()) == 5

    def test_a_wait_beyond_the_patience_is_not_begun(self, service):
        room = service("greedy")
        assert "too many calls (429); try again later" in room.refused()
        assert room.waits == []

    def test_all_waits_of_all_calls_come_to_the_patience_at_most(self, service):
        room = service("failing")
        room.refused(patience=2)
        assert room.waits == [0.5, 1]
        assert len(room.asked()) == 3

    def test_patience_is_for_all_batches_together(self, service):
        room = service("busy")
        assert room.embed(TEXTS, batch=1, patience=6).shape == (3, DIM)
        assert "429" in service("busy").refused(patience=5)

    def test_a_broken_connection_is_tried_again(self, service):
        room = service("dropping")
        assert "the call failed (RemoteProtocolError)" in room.refused(tries=3)
        assert len(room.asked()) == 3

    def test_a_dead_port_is_named_after_the_last_try(self):
        with socket.socket() as held:
            held.bind(("127.0.0.1", 0))  # bound, but nobody listens
            room = Service(held.getsockname()[1], "normal")
            assert room.refused().endswith("; check the url and the network")
        assert room.waits == [0.5, 1, 2, 4]

    def test_a_silent_service_uses_the_patience_up(self, service):
        room = service("hanging")
        message = room.refused(timeout=0.1, patience=0.75)
        assert "no answer within 0.1 seconds; try again later" in message
        assert room.waits == [0.5]
        room.refused(timeout=0.1, patience=0.55)
        assert room.waits == [0.5]

    @pytest.mark.parametrize(
        ("mode", "said"),
        [
            ("badkey", "the key is refused (401 invalid_api_key); check the key"),
            ("badcall", "the call is refused (400 model_not_found); check the url, the model"),
            ("moved", "the call is refused (307); check the url"),
            ("notjson", "the answer is no JSON; check that the url"),
            ("notutf8", "the answer is no JSON"),
            ("deep", "the answer is no JSON"),
            ("other", "does not have 2 vectors of one length; check"),
            ("short", "does not have 2 vectors"),
            ("long", "does not have 2 vectors"),
            ("twice", "does not have 2 vectors"),
            ("ragged", "does not have 2 vectors"),
            ("nan", "does not have 2 vectors"),
            ("huge", "does not have 2 vectors"),
            ("words", "does not have 2 vectors"),
            ("empty", "does not have 2 vectors"),
        ],
    )
    def test_what_asking_again_does_not_mend_is_refused_at_once(self, service, mode, said):
        room = service(mode)
        assert said in room.refused([SECRET, "x"])
        assert room.waits == []
        assert len(room.asked()) == 1

    def test_batches_of_different_lengths_are_refused(self, service):
        assert "its vectors differ in length" in service("drifting").refused([SECRET, "x"], batch=1)

    def test_a_redirect_does_not_carry_the_key_away(self, service):
        room = service("moved")
        room.refused()
        room.root = room.root.replace("/moved/", "/normal/")  # where it was sent to
        assert room.asked() == []

    def test_without_httpx_the_command_is_told(self, monkeypatch):
        monkeypatch.setitem(sys.modules, "httpx", None)
        with pytest.raises(EmbedError, match=r"need httpx.*pip install 'agent-memkit\[embed\]'"):
            embed(TEXTS, Settings(KEY))

    def test_a_bad_proxy_is_a_readable_error(self, monkeypatch):
        monkeypatch.setenv("HTTPS_PROXY", "gopher://nowhere")
        with pytest.raises(EmbedError, match=r"from api\.openai\.com: no way out \(ValueError\); check the proxy"):
            embed(TEXTS, Settings(KEY))

    def test_a_word_of_the_service_that_is_in_the_key_is_not_repeated(self, port):
        room = Service(port, "badkey")
        room.settings = Settings("x-invalid_api_key-y", url=room.settings.url)
        with pytest.raises(EmbedError, match=r"refused \(401\)"):
            room.embed(TEXTS)

    def test_an_embed_error_is_caught_with_all_others(self):
        assert issubclass(EmbedError, MemkitError)


VECTORS = arrays.arrays(np.float32, arrays.array_shapes(min_dims=2, max_dims=2, max_side=6), elements=st.floats(width=32))


class TestVectors:
    @given(VECTORS)
    def test_bytes_keep_every_bit(self, array):
        back = unpacked(packed(array), array.shape[1])
        assert back.tobytes() == array.tobytes()
        assert back.dtype == np.float32
        assert back.flags.writeable

    def test_bytes_are_little_endian(self):
        assert packed(np.array([1.0, -2.0], ">f4")) == b"\x00\x00\x80\x3f\x00\x00\x00\xc0"

    @given(VECTORS)
    def test_cosines_are_never_nan_and_never_beyond_one(self, array):
        found = cosine(array[0], array)
        assert found.shape == (len(array),)
        assert ((found >= -1) & (found <= 1)).all()

    def test_cosines_are_what_they_are_called(self):
        matrix = np.array([[2, 0], [0, 3], [-1, 0], [1, 1], [0, 0], [1e-40, 0], [1e38, 0]], np.float32)
        found = cosine(np.array([5, 0], np.float32), matrix)
        assert found == pytest.approx([1, 0, -1, 0.5**0.5, 0, 1, 1])
        assert cosine(np.zeros(2, np.float32), matrix).tolist() == [0] * 7

    def test_a_matrix_without_rows_has_no_cosines(self):
        assert cosine(np.ones(3, np.float32), np.empty((0, 3), np.float32)).shape == (0,)

    def test_large_matrices_are_compared_in_parts(self, monkeypatch):
        matrix = np.random.default_rng(7).normal(size=(50, 8)).astype(np.float32)
        whole = cosine(matrix[3], matrix)
        monkeypatch.setattr(vectors, "_AT_ONCE", 7)
        assert cosine(matrix[3], matrix) == pytest.approx(whole)

    def test_texts_that_share_characters_lie_near(self, service):
        found = service().embed(["坚果云 同步", "同步 坚果云 失败", "tea at noon"])
        near = cosine(found[0], found)
        assert near[0] == pytest.approx(1)
        assert near[1] > near[2]


def rows_of(*texts):
    return {hash_of(text): np.array(vector(text), np.float32) for text in texts}


def same(found, expected):
    return found.keys() == expected.keys() and all((found[key] == expected[key]).all() for key in found)


class TestStorage:
    def test_what_is_saved_is_found_by_hash_and_model(self, database):
        kept = rows_of(*TEXTS)
        save(database, "m", kept)
        assert same(stored(database, "m", kept), kept)
        assert same(stored(database, "m", [hash_of("tea at noon"), hash_of("new")]), rows_of("tea at noon"))
        assert stored(database, "other", kept) == {}
        assert stored(database, "m", []) == {}

    def test_only_new_texts_need_a_call(self, service, database):
        room, model = service(), "test-model"
        save(database, model, rows_of("a", "b"))
        hashes = {hash_of(text): text for text in ("a", "b", "c")}
        missing = [hashes[key] for key in hashes.keys() - stored(database, model, hashes).keys()]
        save(database, model, dict(zip(map(hash_of, missing), room.embed(missing), strict=True)))
        assert same(stored(database, model, hashes), rows_of("a", "b", "c"))
        assert room.asked()[0]["input"] == ["c"]

    def test_reading_makes_no_table(self, tmp_path):
        path = tmp_path / "index.sqlite"
        sqlite3.connect(path).close()
        connection = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
        assert stored(connection, "m", [hash_of("a")]) == {}
        assert prune(connection, "m", []) == 0
        save(connection, "m", {})
        connection.close()
        assert path.stat().st_size == 0

    def test_the_table_is_as_it_was_agreed(self, database):
        save(database, "m", rows_of("a"))
        columns = [(row[1], row[2], row[5]) for row in database.execute("PRAGMA table_info(vectors)")]
        assert columns == [("hash", "BLOB", 1), ("model", "TEXT", 2), ("dim", "INTEGER", 0), ("data", "BLOB", 0)]
        assert database.execute("SELECT dim, length(hash), length(data) FROM vectors").fetchone() == (DIM, 32, 4 * DIM)

    def test_the_transaction_is_the_callers(self, database):
        save(database, "m", rows_of("a"))
        database.commit()
        save(database, "m", rows_of("b"))
        prune(database, "m", [hash_of("b")])
        assert database.in_transaction
        database.rollback()
        assert same(stored(database, "m", map(hash_of, "ab")), rows_of("a"))

    def test_vectors_of_texts_that_are_gone_are_pruned(self, database):
        for model in ("m", "n"):
            save(database, model, rows_of("a", "b", "c"))
        assert prune(database, "m", [hash_of("b")]) == 2
        assert same(stored(database, "m", map(hash_of, "abc")), rows_of("b"))
        assert same(stored(database, "n", map(hash_of, "abc")), rows_of("a", "b", "c"))

    def test_pruning_without_a_model_spares_no_model(self, database):
        for model in ("m", "n"):
            save(database, model, rows_of("a", "b"))
        assert prune(database, None, [hash_of("b")]) == 2
        assert same(stored(database, "n", map(hash_of, "ab")), rows_of("b"))

    def test_vectors_of_another_length_make_way(self, database):
        save(database, "m", rows_of("a", "b"))
        save(database, "n", rows_of("a"))
        longer = {hash_of("c"): np.ones(DIM + 1, np.float32)}
        assert stored(database, "m", [hash_of("a")], d=DIM + 1) == {}
        save(database, "m", longer)
        assert same(stored(database, "m", map(hash_of, "abc"), d=DIM + 1), longer)
        assert same(stored(database, "m", map(hash_of, "abc")), longer)
        assert same(stored(database, "n", map(hash_of, "abc")), rows_of("a"))

    def test_a_damaged_row_is_as_good_as_none(self, database):
        save(database, "m", rows_of("a", "b", "c", "d"))
        for text, change in {"a": "data = x'00'", "b": "data = NULL", "c": "dim = 0, data = x''"}.items():
            database.execute(f"UPDATE vectors SET {change} WHERE hash = ?", (hash_of(text),))
        assert same(stored(database, "m", map(hash_of, "abcd")), rows_of("d"))

    def test_many_hashes_are_no_trouble(self, database):
        many = {hash_of(str(number)): np.full(2, number, np.float32) for number in range(3_000)}
        save(database, "m", many)
        assert len(stored(database, "m", many)) == 3_000

    def test_a_hash_is_of_the_whole_text(self):
        assert hash_of("a" * 9_000) != hash_of("a" * 9_001)
        assert len(hash_of("\udcff")) == 32


def weighed(vector_weight, text_weight):
    return Settings(KEY, vector_weight=vector_weight, text_weight=text_weight)


class TestHybrid:
    def test_scores_are_weighed_over_the_candidates_of_either_side(self):
        found = hybrid({"a": 0.9, "b": 0.6}, {"b": 0.5, "c": 0.8}, weighed(0.7, 0.3))
        assert found == pytest.approx({"a": 0.63, "b": 0.57, "c": 0.24})
        assert list(found) == ["a", "b", "c"]

    def test_a_hit_is_above_the_bound_or_has_all_words(self):
        found = hybrid({"at": 0.5, "above": 0.51, "below": 0.1, "words": -0.2}, {"words": 0.1}, weighed(0.7, 0.3))
        assert set(found) == {"above", "words"}

    def test_part_of_the_words_is_not_all_of_them(self):
        assert hybrid({}, {"a": 0.9, "b": 0.9}, weighed(0.7, 0.3), whole={"b"}) == pytest.approx({"b": 0.27})

    def test_a_block_with_all_words_is_kept_without_any_score(self):
        assert hybrid({}, {}, weighed(0.7, 0), whole=["a"]) == {"a": 0}

    def test_text_weight_zero_is_a_weight(self):
        assert hybrid({"a": 0.9}, {"a": 1.0, "b": 1.0}, weighed(1, 0)) == {"a": 0.9, "b": 0}

    def test_vector_weight_zero_leaves_the_text_scores_alone(self):
        texts = {"a": 0.2, "b": 0.4}
        assert hybrid({"c": 1.0, "a": 1.0}, texts, weighed(0, 0.3)) == texts
        assert list(hybrid({}, texts, weighed(0, 0))) == ["b", "a"]

    def test_equal_scores_keep_the_order_they_came_in(self):
        assert list(hybrid({}, dict.fromkeys("cab", 0.5), weighed(0.7, 0.3))) == ["c", "a", "b"]

    def test_the_provider_says_who_answered(self):
        table = [(0.7, 0.3, "hybrid", "vector"), (0.7, 0, "vector", "vector"), (0, 0.3, "fts5", "file-keyword")]
        for vector_weight, text_weight, with_fts, without in [*table, (0, 0, "fts5", "file-keyword")]:
            settings = weighed(vector_weight, text_weight)
            assert (provider(settings), provider(settings, fts=False)) == (with_fts, without)
        assert (provider(None), provider(None, fts=False)) == ("fts5", "file-keyword")
