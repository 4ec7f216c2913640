"""The socket: the REST API, GraphQL, git over smart HTTP, and downloads of artifacts."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
import traceback
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from tests.fake_github import graphql, rest
from tests.fake_github.faults import Fault
from tests.fake_github.messages import ApiError, LogEntry, Request, Response
from tests.fake_github.permissions import Token, find_app, token_in

if TYPE_CHECKING:
    from tests.fake_github.github import GitHub
    from tests.fake_github.repository import Repository

PLAIN = "text/plain; charset=utf-8"
LOGIN = {"www-authenticate": 'Basic realm="GitHub"'}
GIT_SECONDS = 60


class ConnectionDropped(Exception):
    """The connection is to be closed without a response."""


class Server:
    """Listens on a free port of loopback. API requests are done one at a time."""

    def __init__(self, github: GitHub) -> None:
        self.github = github
        self.http: ThreadingHTTPServer | None = None

    @property
    def port(self) -> int:
        assert self.http, "not started: use `with GitHub() as github`"
        return int(self.http.server_address[1])

    def start(self) -> None:
        server, violations = self, self.github.violations

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True
            wbufsize = -1

            def handle_any(self) -> None:
                server.handle(self)

            do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = do_HEAD = handle_any

            def log_message(self, *_: object) -> None:
                pass

        class Listener(ThreadingHTTPServer):
            daemon_threads = True
            request_queue_size = 64

            def handle_error(self, *arguments: Any) -> None:
                if not isinstance(sys.exception(), ConnectionError):  # the client has gone
                    violations.append(f"the fake itself failed:\n{traceback.format_exc()}")
                    super().handle_error(*arguments)

        self.http = Listener(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.http.serve_forever, args=(0.005,), daemon=True).start()

    def stop(self) -> None:
        if self.http:
            self.http.shutdown()
            self.http.server_close()

    def handle(self, handler: BaseHTTPRequestHandler) -> None:
        url = urlsplit(handler.path)
        headers = {name.lower(): value for name, value in handler.headers.items()}
        content = handler.rfile.read(int(headers.get("content-length", "0")))
        request = Request(handler.command, url.path, url.query, headers, content)
        try:
            response = self.respond(request)
            if len(handler.headers.get_all("authorization", [])) > 1:
                response = Response(400, b'Duplicate header: "Authorization"', PLAIN)
        except ConnectionDropped:
            handler.close_connection = True
            return
        handler.send_response(response.status)
        length = str(len(response.content))
        sent = {"content-type": response.media, "content-length": length, **response.headers}
        for name, value in sent.items():
            handler.send_header(name, value)
        handler.end_headers()
        if handler.command != "HEAD":
            handler.wfile.write(response.content)

    def respond(self, request: Request) -> Response:
        if request.path.startswith("/_download/"):
            return self.log(request, "download", False, download(self.github, request))
        api = graphql if request.path == "/api/graphql" else rest
        if request.path.startswith("/api/"):
            operation, is_write = api.classify(request)
        else:
            operation, is_write = "git", False
        with self.github.lock:
            fault = self.github.faults.take(operation, is_write=is_write)
        if fault:
            time.sleep(fault.delay)
        if fault and not fault.after:
            if fault.then:
                fault.then()
            if fault.drop:
                self.log(request, operation, is_write, Response(0))
            if fault.replaces_response:
                return self.log(request, operation, is_write, fault_response(fault))
        if operation == "git":
            response = serve_git(self.github, request)
        else:
            with self.github.lock:
                try:
                    response = api.respond(self.github, request, self.find_token(request))
                except ApiError as error:
                    response = Response.json(error.status, error.body)
        response = self.log(request, operation, is_write, response)
        if fault and fault.after:
            if fault.then:
                fault.then()
            if fault.replaces_response:
                return fault_response(fault)
        return response

    def find_token(self, request: Request) -> Token | None:
        """G17: an unknown token is refused; a request without one is anonymous."""
        header = request.headers.get("authorization")
        if header is None:
            return None
        text = token_in(header)
        if text.count(".") == 2:
            app = find_app(text, self.github.apps)
            return Token(text, self.github.user(app.login), {}, app.slug)
        token = self.github.tokens.get(text)
        if token is None:
            raise ApiError(401, "Bad credentials")
        return token

    def log(self, request: Request, operation: str, is_write: bool, response: Response) -> Response:
        """Write a request into the log, and add the headers of every response."""
        github = self.github
        with github.lock:
            token = github.tokens.get(token_in(request.headers.get("authorization", "")))
            login = token.user.login if token else None
            method, path, status = request.method, request.path, response.status
            github.log.append(LogEntry(method, path, operation, status, is_write, login))
        headers = {"x-ratelimit-remaining": "4000", **response.headers}
        return Response(status, response.content, response.media, headers)


def fault_response(fault: Fault) -> Response:
    if fault.drop:
        raise ConnectionDropped
    return Response(fault.status, fault.body.encode(), headers=fault.headers)


def download(github: GitHub, request: Request) -> Response:
    """An artifact. Who sends a token here gave it to another host, which is a violation."""
    if "authorization" in request.headers:
        github.violations.append(f"GET {request.path}: a token was sent to another host")
    number = request.path.rsplit("/", 1)[1].removesuffix(".zip")
    artifact = github.artifact(int(number))
    assert artifact
    return Response(200, artifact.content, "application/zip")


def serve_git(github: GitHub, request: Request) -> Response:
    """Fetches; the program pushes nothing. 401 makes git ask for credentials."""
    name, _, below = request.path.removeprefix("/").partition(".git/")
    home, header = github.repositories.get(name.lower()), request.headers.get("authorization")
    if home is None or "git-receive-pack" in request.path + request.query:
        return Response(404, b"Not Found", PLAIN)
    token = github.tokens.get(token_in(header)) if header else None
    if token is None and (header or home.private):
        return Response(401, b"Authentication required", PLAIN, LOGIN)
    if token and not token.may(home, "contents:read"):
        return Response(403, b"remote: Write access to repository not granted.", PLAIN)
    return run_http_backend(home, request, f"/{below}")


def run_http_backend(home: Repository, request: Request, path: str) -> Response:
    """Ask `git http-backend` over CGI."""
    environment = {
        **home.bare.environment,
        "GIT_PROJECT_ROOT": str(home.path),
        "GIT_HTTP_EXPORT_ALL": "1",
        "PATH_INFO": path,
        "REQUEST_METHOD": request.method,
        "QUERY_STRING": request.query,
        "CONTENT_TYPE": request.headers.get("content-type", ""),
        "CONTENT_LENGTH": str(len(request.content)),
        "REMOTE_ADDR": "127.0.0.1",
        "REMOTE_USER": "git",
        "GIT_PROTOCOL": request.headers.get("git-protocol", ""),
        "HTTP_CONTENT_ENCODING": request.headers.get("content-encoding", ""),
    }
    ended = subprocess.run(
        ["git", "http-backend"],
        input=request.content,
        env=environment,
        capture_output=True,
        timeout=GIT_SECONDS,
        check=False,
    )
    head, _, content = ended.stdout.partition(b"\r\n\r\n")
    lines = head.decode().split("\r\n")
    headers = dict(line.split(": ", 1) for line in lines if ": " in line)
    status = int(headers.pop("Status", "200").split()[0])
    return Response(status, content, headers.pop("Content-Type", PLAIN), headers)
