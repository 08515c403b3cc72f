"""Errors -> responses in the format of OpenAI's errors."""

import logging
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from rag.errors import RagError

logger = logging.getLogger(__name__)

# HTTP status by code of our errors; all others are the server's own failure.
STATUS = {
    "usage": 400,
    "settings": 503,
    "model": 503,
    "chat_model": 503,
    "index_missing": 503,
    "index_corrupt": 503,
    "index_mismatch": 503,
    "index_locked": 503,
}
CODES = {404: "not_found", 405: "method_not_allowed", 500: "internal_error"}
REQUEST, SERVER, RATE = "invalid_request_error", "server_error", "rate_limit_error"


class Problem(Exception):  # noqa: N818 - it is an answer to a client, not a failure of ours
    """Why a request is refused. `param` names the wrong field of the request."""

    def __init__(
        self, status: int, message: str, *, code: str, param: str | None = None, headers: dict[str, str] | None = None
    ) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.code = code
        self.param = param
        self.headers = headers

    @property
    def body(self) -> dict[str, Any]:
        kind = RATE if self.status == 429 else SERVER if self.status >= 500 else REQUEST
        return {"error": {"message": self.message, "type": kind, "param": self.param, "code": self.code}}

    @property
    def response(self) -> JSONResponse:
        return JSONResponse(self.body, self.status, headers=self.headers)


def problem_of(error: Exception) -> Problem:
    """Logs an unexpected error, and tells the client nothing about it."""
    if isinstance(error, Problem):
        return error
    if isinstance(error, RagError):
        told = f"{error.message}. {error.hint}" if error.hint else error.message
        status = STATUS.get(error.code, 500)
        if status >= 500:
            logger.warning("%s", error.message)
        return Problem(status, told, code=error.code)
    logger.error("a request failed", exc_info=error)
    return Problem(500, "the server failed; its log says why", code=CODES[500])


def add_error_handlers(app: FastAPI) -> None:
    """Handles reasons to refuse a request; the guard handles all else."""

    def answer(_: Request, error: Exception) -> JSONResponse:
        return problem_of(error).response

    def answer_http(_: Request, error: Exception) -> JSONResponse:
        assert isinstance(error, HTTPException)
        code = CODES.get(error.status_code, "invalid_request")
        headers = dict(error.headers) if error.headers else None
        return Problem(error.status_code, str(error.detail), code=code, headers=headers).response

    def answer_invalid(_: Request, error: Exception) -> JSONResponse:
        assert isinstance(error, RequestValidationError)
        return _invalid(error).response

    app.add_exception_handler(Problem, answer)
    app.add_exception_handler(RagError, answer)
    app.add_exception_handler(HTTPException, answer_http)
    app.add_exception_handler(RequestValidationError, answer_invalid)


def _invalid(error: RequestValidationError) -> Problem:
    """The first error in a request. Does not repeat the request's content."""
    first = error.errors()[0]
    path = [str(part) for part in first["loc"][1:]]
    if first["type"] == "json_invalid":
        return Problem(400, f"the body is not JSON: {first['ctx']['error']}", code="invalid_json")
    if not path:
        hint = 'send a JSON object, with the header "Content-Type: application/json"'
        return Problem(400, f"the body cannot be read: {first['msg']}; {hint}", code="invalid_body")
    name = ".".join(path).encode(errors="replace").decode()[:200]
    code = "missing_required_parameter" if first["type"] == "missing" else "invalid_type"
    return Problem(400, f"{name}: {first['msg']}", code=code, param=name)
