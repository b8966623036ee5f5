"""Who is let in over HTTP: who sends the token, names this machine, comes from no foreign page, and brings a message."""

from __future__ import annotations

import hmac
import ipaddress
import re
from collections.abc import Sequence

from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from memkit.serve.messages import LONGEST, Fault, fault_of

LOOPBACK = "127.0.0.1"
OURS = (LOOPBACK, "localhost", "::1")
EVERYWHERE = ("0.0.0.0", "::")  # all addresses of this machine
_AUTHORITY = re.compile(r"(?:\[([0-9a-f:.]+)\]|([^:@/\[\]]+?)\.?)(?::[0-9]{1,5})?")
_ORIGIN = re.compile(r"https?://(.+)")


class Guard:
    """Lets in who sends the token, compared in constant time, and names this machine; says to others why not."""

    def __init__(self, app: ASGIApp, token: str, host: str, names: Sequence[str]):
        self._app, self._expected = app, f"Bearer {token}".encode("ascii")
        self._names = {name.strip("[]").lower().removesuffix(".") for name in (*OURS, host, *names)}
        self._any_address = host in EVERYWHERE

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        refusal = self._refusal(scope)
        if refusal is None and scope["method"] == "POST":
            body, receive = await _read(receive)
            fault = fault_of(body)
            refusal = None if fault is None else _told(fault)
        await (refusal or self._app)(scope, receive, send)

    def _refusal(self, scope: Scope) -> Response | None:
        """Return why a request is refused, None for one that is not."""
        held = scope["headers"]
        if not self._is_known([value for name, value in held if name == b"authorization"]):
            told = "unauthorized: send the token of this server, as Authorization: Bearer TOKEN\n"
            return PlainTextResponse(told, status_code=401, headers={"WWW-Authenticate": "Bearer"})
        hosts = [value.decode("latin-1") for name, value in held if name == b"host"]
        if len(hosts) != 1 or not self._is_ours(hosts[0]):
            told = "host: this server is not known by that name; start it with --allow-host NAME\n"
            return PlainTextResponse(told, status_code=421)
        origins = [value.decode("latin-1") for name, value in held if name == b"origin"]
        if not all((page := _ORIGIN.fullmatch(origin.lower())) and self._is_ours(page[1]) for origin in origins):
            return PlainTextResponse("origin: a foreign page; start the server with --allow-host NAME\n", status_code=403)
        if scope["method"] != "POST":
            return PlainTextResponse("method: expected POST\n", status_code=405, headers={"Allow": "POST"})
        return None

    def _is_known(self, given: Sequence[bytes]) -> bool:
        if len(given) != 1:
            return False
        scheme, _, rest = given[0].partition(b" ")
        return hmac.compare_digest(scheme.lower().capitalize() + b" " + rest.strip(), self._expected)

    def _is_ours(self, authority: str) -> bool:
        """Return whether a name with or without a port is one of this machine's."""
        found = _AUTHORITY.fullmatch(authority.lower())
        name = (found[1] or found[2]) if found else ""
        return name in self._names or (self._any_address and _is_address(name))


def _is_address(name: str) -> bool:
    """Return whether a name is an address, which no foreign name server can have turned here."""
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


async def _read(receive: Receive) -> tuple[bytes, Receive]:
    """Return the body of a request, as far as one may go, and what gives it once more."""
    held: list[Message] = []
    body = b""
    while True:
        message = await receive()
        held.append(message)
        body += message.get("body", b"")
        if not message.get("more_body") or len(body) > LONGEST:
            break

    async def again() -> Message:
        return held.pop(0) if held else await receive()

    return body, again


def _told(fault: Fault) -> Response:
    """Return what is wrong with a message, as JSON-RPC says it."""
    error = {"code": fault.code, "message": f"message: {fault.reason}; expected one JSON-RPC message, in UTF-8"}
    status = 413 if fault.reason.startswith("longer") else 400
    return JSONResponse({"jsonrpc": "2.0", "id": fault.asked, "error": error}, status_code=status)
