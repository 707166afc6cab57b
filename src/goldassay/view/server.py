"""The workbench's server: this machine alone, and only for who has the address with its token."""

from __future__ import annotations

import errno
import hmac
import json
import secrets
import socket
import threading
from typing import TYPE_CHECKING, Any

import numpy as np

from goldassay.core.bounds import reason
from goldassay.core.errors import GoldassayError, InputError, MissingDependencyError, option
from goldassay.core.numbers import count
from goldassay.data.decisions import CHOICE, Decision, append_decision, label_choices
from goldassay.data.row_keys import copies_of
from goldassay.view.page import render_list, render_problem, render_profile, render_row, style_sheet, template_text

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import Response

    from goldassay.view.opening import Workbench
    from goldassay.view.selecting import State

HOST = "127.0.0.1"
LONGEST_BODY = 1 << 20
# Rows that are decided about together, and how; a label or a text is of one row.
MOST_AT_ONCE = 20_000
_FOR_MANY = ("keep", "rewrite", "drop", "undecided")
_MOST_DIGITS = 12
POLICY = (
    "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src data:; form-action 'self'; "
    "base-uri 'none'; frame-ancestors 'none'"
)
_HEADERS = {
    "Content-Security-Policy": POLICY,
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}


def new_token() -> str:
    """What only somebody who was given the address knows."""
    return secrets.token_urlsafe(24)


def bind(port: int) -> socket.socket:
    """A socket that only programs of this machine reach.

    Args:
        port: Its number; 0 for any that is free.

    Raises:
        InputError: Another program uses the port, or it is reserved.
    """
    taken = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        taken.bind((HOST, port))
        taken.listen()
    except OSError as error:
        taken.close()
        why = "is in use" if error.errno == errno.EADDRINUSE else f"cannot be used ({error.strerror})"
        raise InputError(
            f"{option('port')}: {port} {why}", mend="give another, or none for any that is free"
        ) from error
    return taken


def serve(bench: Workbench, port: int, say: Callable[[str], None]) -> None:
    """Serve until interrupted.

    Args:
        bench: What is looked through.
        port: Where; 0 for any that is free.
        say: Takes the address once it can be opened.

    Raises:
        InputError: The port is in use.
        MissingDependencyError: The extra `view` is not installed.
    """
    try:
        import starlette  # noqa: F401
        import uvicorn
    except ImportError as error:
        raise MissingDependencyError(
            "the workbench needs starlette and uvicorn; install them with: pip install 'goldassay[view]'"
        ) from error
    taken, token = bind(port), new_token()
    try:
        own_port = int(taken.getsockname()[1])
        app = make_app(bench, token, own_port)
        server = uvicorn.Server(uvicorn.Config(app, log_level="error", access_log=False, lifespan="off"))
        # The first page needs no texts but its own: those of a million rows are read while it is looked at.
        threading.Thread(target=bench.table.load, daemon=True).start()
        say(f"http://{HOST}:{own_port}/{token}/")
        server.run(sockets=[taken])
    finally:
        taken.close()


def make_app(bench: Workbench, token: str, port: int) -> Starlette:
    """The application; requests are answered one after the other, so that no two decisions mix."""
    from starlette.applications import Starlette
    from starlette.requests import ClientDisconnect
    from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse
    from starlette.responses import Response as Plain
    from starlette.routing import Route

    hosts = {f"{name}:{port}" for name in (HOST, "localhost")}
    base = f"/{token}/"

    def state_of(request: Request) -> State:
        return bench.state(str(request.url.query))

    def guarded(answer: Callable[[Request], Any]) -> Callable[[Request], Any]:
        async def checked(request: Request) -> Response:
            if not _is_allowed(request, hosts, token):
                return PlainTextResponse("403: open the address that goldassay view printed\n", 403, _HEADERS)
            try:
                answered: Response = await answer(request)
            except ClientDisconnect:
                # No answer is read, and nothing was decided.
                return Plain(status_code=400)
            except GoldassayError as error:
                wants_json = request.method == "POST"
                problem = str(error)
                answered = (
                    JSONResponse({"problem": problem}, 400)
                    if wants_json
                    else HTMLResponse(render_problem(problem, base), 400)
                )
            answered.headers.update(_HEADERS)
            return answered

        return checked

    async def show_list(request: Request) -> Response:
        bench.refresh()
        state = state_of(request)
        return HTMLResponse(render_list(bench, state, bench.selector.select(state), base=base))

    async def show_row(request: Request) -> Response:
        bench.refresh()
        state, name = state_of(request), request.path_params["row"]
        # Longer numbers than this are of no report, and int() refuses very long ones.
        row = int(name) if name.isascii() and name.isdecimal() and len(name) < _MOST_DIGITS else bench.table.n_rows
        if row >= bench.table.n_rows:
            problem = f"there is no row {name!r}: rows go from 0 to {bench.table.n_rows - 1}"
            return HTMLResponse(render_problem(problem, base), 404)
        rows = bench.selector.select(state).rows
        found = np.flatnonzero(rows == row)
        at = int(found[0]) if found.size else None
        before = int(rows[at - 1]) if at else None
        after = int(rows[at + 1]) if at is not None and at + 1 < rows.size else None
        return HTMLResponse(render_row(bench, state, row, (before, after), base=base))

    async def decide(request: Request) -> Response:
        body = await _body(request)
        # Another server may have appended to it: an undo, a note and a rewrite go on from the row's last line.
        bench.refresh()
        row, decision = _decision(body, bench)
        assert bench.decisions is not None
        stands = decision.after(bench.table.decided.get(row))
        append_decision(bench.decisions, decision)
        bench.remember(row, decision)
        bench.table.decided[row] = stands
        told = {"decision": stands.decision, "label": stands.label, "texts": stands.texts, "note": stands.note}
        return JSONResponse({"saved": decision.decision, **told})

    async def decide_all(request: Request) -> Response:
        body = await _body(request)
        bench.refresh()
        rows, word = _rows_of(body, bench), str(body["decision"])
        decisions = _decisions(rows, word, bench)
        assert bench.decisions is not None
        append_decision(bench.decisions, *decisions.values())
        bench.refresh()
        return JSONResponse({"saved": word, "rows": list(decisions), "n_left": rows.size - len(decisions)})

    async def show_profile(_request: Request) -> Response:
        bench.refresh()
        return HTMLResponse(render_profile(bench, base=base))

    async def show_file(request: Request) -> Response:
        if request.path_params["name"] == "view.css":
            return Plain(style_sheet(), media_type="text/css")
        if request.path_params["name"] == "view.js":
            return Plain(template_text("view.js"), media_type="text/javascript")
        return PlainTextResponse("404: there is no such page\n", 404)

    return Starlette(
        routes=[
            Route("/{token}/", guarded(show_list)),
            Route("/{token}/row/{row:path}", guarded(show_row)),
            Route("/{token}/decide", guarded(decide), methods=["POST"]),
            Route("/{token}/decide-all", guarded(decide_all), methods=["POST"]),
            Route("/{token}/profile", guarded(show_profile)),
            Route("/{token}/{name:path}", guarded(show_file)),
            # Whatever has no token.
            Route("/{name:path}", guarded(show_file)),
        ]
    )


def _is_allowed(request: Request, hosts: set[str], token: str) -> bool:
    """Whether a request is of a page of ours.

    A page of another site can neither know the token nor send our host or origin: a name that it lets point to this
    machine is another host, and a form that it sends has its own origin.
    """
    given = str(request.path_params.get("token", ""))
    if not hmac.compare_digest(given.encode(), token.encode()):
        return False
    if request.headers.get("host") not in hosts:
        return False
    origin = request.headers.get("origin")
    if request.method == "POST":
        return origin is not None and origin == f"http://{request.headers['host']}"
    return origin is None or origin == f"http://{request.headers['host']}"


def _has_several_answers(row: dict[str, Any]) -> bool:
    # Its label is the first of them: a relabel to that one takes the others away.
    answer = row.get("answer")
    return isinstance(answer, list) and len(answer) > 1


async def _body(request: Request) -> dict[str, Any]:
    content = b""
    async for piece in request.stream():
        content += piece
        if len(content) > LONGEST_BODY:
            raise InputError("a decision has at most a megabyte", mend="shorten the note or the texts")
    try:
        body = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise InputError(f"the decision is not JSON: {reason(error)}", mend="decide on the page") from error
    if not isinstance(body, dict):
        raise InputError("the decision is no object", mend="decide on the page")
    return body


def _rows_of(body: dict[str, Any], bench: Workbench) -> NDArray[np.int64]:
    """The rows that a page decides about together: those of its filter, as many as it shows, or some by number.

    Raises:
        InputError: Nothing can be decided, it is no decision for many rows, they are too many, or by now others.
    """
    _check_decidable(bench)
    if body.get("decision") not in _FOR_MANY:
        raise InputError(
            f"many rows cannot be given the decision {body.get('decision')!r}", mend=f"choose {', '.join(_FOR_MANY)}"
        )
    given, query = body.get("rows"), body.get("query")
    if isinstance(given, list):
        if not all(type(each) is int and 0 <= each < bench.table.n_rows for each in given):
            raise InputError("the decision is about no row of this report", mend="load the page again")
        rows = np.unique(np.array(given, np.int64))
    elif isinstance(query, str):
        rows = bench.selector.select(bench.state(query)).rows
    else:
        raise InputError("the decision names no rows", mend="decide on the page")
    if body.get("n") != rows.size:
        raise InputError(
            f"the filter has {count(rows.size)} rows by now", mend="load the page again, and confirm again"
        )
    if rows.size > MOST_AT_ONCE:
        raise InputError(f"{count(rows.size)} rows are more than {count(MOST_AT_ONCE)}", mend="narrow the filter")
    return rows


def _decisions(rows: NDArray[np.int64], word: str, bench: Workbench) -> dict[int, Decision]:
    """The same decision about rows, by row; without those that have it, and those that no id tells from equal ones."""
    found = {}
    for row, (key, same) in bench.table.contents(rows).items():
        standing = bench.table.decided.get(row)
        words = "undecided" if standing is None else standing.decision
        if row not in rows or words == word:
            continue
        if standing is not None:
            found[row] = Decision(key, standing.id, word, copies=standing.copies)
            continue
        name = str(bench.table.rows(np.array([row]))[0]["example_id"])
        if same.count(name) == 1:
            found[row] = Decision(key, name, word, copies=copies_of(same))
    return dict(sorted(found.items()))


def _check_decidable(bench: Workbench) -> None:
    if bench.decisions is None:
        raise InputError(
            "there is no file for decisions",
            mend=f"start goldassay view with {option('test')} or {option('decisions')}",
        )
    if bench.locked:
        raise InputError(
            "the file of decisions cannot be written", mend=f"start goldassay view with another {option('decisions')}"
        )


def _decision(body: dict[str, Any], bench: Workbench) -> tuple[int, Decision]:
    """What a page asks to append, checked.

    Raises:
        InputError: Nothing can be decided, the row is another one by now, or the label is unknown.
    """
    mend = "load the page again"
    _check_decidable(bench)
    row = body.get("row")
    if not isinstance(row, int) or isinstance(row, bool) or not 0 <= row < bench.table.n_rows:
        raise InputError("the decision is about no row of this report", mend=mend)
    found = bench.table.rows(np.array([row]))[0]
    # In a file whose ids are others the row goes on with the id that its decisions have.
    standing = bench.table.decided.get(row)
    if standing is None:
        name, same = str(found["example_id"]), bench.table.same_as(found)
        if same.count(name) > 1:
            raise InputError(
                f"several rows with the id {name!r} are equal",
                mend="give each an id of its own, and audit again",
            )
        told = {"id": name, "copies": copies_of(same)}
    else:
        told = {"id": standing.id, "copies": standing.copies}
    content = {**body, **told}
    try:
        decision = Decision.parse({name: value for name, value in content.items() if name != "row"})
    except ValueError as error:
        raise InputError(f"the decision {error}", mend="correct it, and save again") from error
    if decision.key != bench.table.key(found):
        raise InputError("the row is another one by now", mend=mend)
    labels = bench.label_names if "label" in found else ()
    if isinstance(choices := found.get("choices"), list):
        # A table writes as empty what an item has fewer choices than others.
        labels = tuple(label for label, text in zip(labels, choices, strict=False) if str(text).strip())
    if decision.decision == "relabel" and decision.label not in labels:
        whose = "no choice of the item" if isinstance(choices, list) else "the label of no row of this dataset"
        raise InputError(
            f"{decision.label!r} is {whose}", mend=f"{label_choices(decision.label, labels)}; or write a note"
        )
    if decision.decision == "relabel" and decision.label == found["label"] and not _has_several_answers(found):
        raise InputError(
            f"the row has the label {decision.label!r} already", mend="keep it, or take a decision back with undo"
        )
    strange = decision.texts.keys() - {name for name in bench.table.texts if not isinstance(found[name], list)}
    shown: list[str] = choices if isinstance(choices, list) else []
    letters = {chr(ord("A") + at) for at, text in enumerate(shown) if text.strip()}
    if strange - {f"{CHOICE}{letter}" for letter in letters}:
        raise InputError("a rewrite names a text that cannot be rewritten here", mend="write it in the note")
    return row, decision
