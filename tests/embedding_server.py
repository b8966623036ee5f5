"""A small embedding service for tests: it speaks `/embeddings`, and the first part of its path says how it misbehaves.

`python embedding_server.py` prints the port it listens on (loopback) and ends when its standard input does.
POST /<mode>/<room>/v1/embeddings answers as the mode wants; GET /<mode>/<room>/requests tells what was asked in that room.
"""

import hashlib
import json
import sys
import threading
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

DIM = 32
NOW = 1_740_749_400  # 2025-02-28T21:30+08:00, the service's own clock
REFUSALS = {
    "failing": (500, "server_error"),
    "badkey": (401, "invalid_api_key"),
    "badcall": (400, "model_not_found"),
    "moved": (307, None),
    "greedy": (429, None),
}
asked = {}  # (mode, room) -> the requests, in the order they came
lock = threading.Lock()
ended = threading.Event()


def vector(text):
    """Return a vector that depends on the characters alone: texts that share many of them lie near each other."""
    row = [0.0] * DIM
    for character in text:
        digest = hashlib.sha256(character.encode()).digest()
        row[digest[0] % DIM] += 1.0 if digest[1] % 4 else -1.0
    return row


def data(mode, texts, calls):
    rows = [{"object": "embedding", "index": at, "embedding": vector(text)} for at, text in enumerate(texts)]
    if mode == "shuffled":
        rows = rows[1::2] + rows[0::2][::-1]
    elif mode == "short":
        rows.pop()
    elif mode == "long":
        rows.append({**rows[0], "index": len(rows)})
    elif mode == "twice":
        rows[-1]["index"] = 0
    elif mode == "ragged":
        rows[-1]["embedding"].append(1.0)
    elif mode == "drifting" and calls > 1:
        rows = [{**row, "embedding": [*row["embedding"], 1.0]} for row in rows]
    elif mode in ("nan", "huge"):
        rows[0]["embedding"][0] = float("nan") if mode == "nan" else 1e300
    elif mode == "words":
        rows[0]["embedding"] = {"no": "vector"}
    elif mode == "empty":
        rows = [{**row, "embedding": []} for row in rows]
    return rows


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        _, mode, room, _ = self.path.split("/", 3)
        self.answer(200, asked.get((mode, room), []))

    def do_POST(self):
        _, mode, room, rest = self.path.split("/", 3)
        raw = self.rfile.read(int(self.headers["Content-Length"]))
        body = json.loads(raw)
        with lock:
            held = asked.setdefault((mode, room), [])
            held.append({"path": rest, "authorization": self.headers["Authorization"], **body})
            calls = len(held)
        self.play(mode, body["input"], calls)

    def play(self, mode, texts, calls):
        if mode == "hanging":
            ended.wait(60)
        elif mode == "dropping":
            self.close_connection = True
        elif mode == "notjson":
            self.answer(200, "<html>欢迎</html>")
        elif mode == "notutf8":
            self.answer(200, b'{"data": "\xff\xfe"}')
        elif mode == "deep":
            self.answer(200, b"[" * 200_000)
        elif mode == "other":
            self.answer(200, {"result": [], "echo": texts})
        elif mode == "busy" and calls <= 2:
            self.refuse(429, "rate_limit_exceeded", texts, {"Retry-After": "3"})
        elif mode == "busydate" and calls <= 1:
            self.refuse(503, None, texts, {"Retry-After": formatdate(NOW + 7, usegmt=True)})
        elif mode == "vague" and calls <= 3:
            self.refuse(429, None, texts, {"Retry-After": ["soon", "-4", formatdate(NOW - 9, usegmt=True)][calls - 1]})
        elif mode in REFUSALS:
            status, code = REFUSALS[mode]
            away = self.path.replace("/moved/", "/normal/")
            self.refuse(status, code, texts, {"Retry-After": "3600"} if mode == "greedy" else {"Location": away})
        else:
            self.answer(200, {"object": "list", "data": data(mode, texts, calls)})

    def refuse(self, status, code, texts, headers):
        """Quote the key and the texts in the error, as real services do."""
        said = f"bad call with {self.headers['Authorization']}: {texts}"
        self.answer(status, {"error": {"message": said, "type": said, "code": code}}, headers)

    def answer(self, status, content, headers=()):
        raw = content if isinstance(content, bytes) else (content if isinstance(content, str) else json.dumps(content)).encode()
        self.send_response_only(status)
        self.send_header("Date", formatdate(NOW, usegmt=True))
        for name, value in dict(headers).items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(raw)))
        self.end_headers()
        self.wfile.write(raw)

    def log_message(self, *args):
        pass


def main():
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    sys.stdout.write(f"{server.server_address[1]}\n")
    sys.stdout.flush()
    sys.stdin.read()
    ended.set()


if __name__ == "__main__":
    main()
