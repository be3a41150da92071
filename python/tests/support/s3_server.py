"""An S3 server that a test starts, and a proxy before it that counts requests and makes some of them fail."""

import http.client
import re
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from fetched_jars import fetched_jars, is_group
from processes import free_port
from spark_process import SparkProcess
from spark_versions import PYSPARK_MINOR

SERVER = Path(__file__).parents[3] / "build" / "envs" / "store" / "bin" / "moto_server"
"""The program of the server. `make test-all` installs it."""

BUCKET = "bucket"

# The server looks at no signature, but takes requests without one for those of strangers.
_HEADERS = {
    "Content-Type": "application/xml",
    "Authorization": "AWS4-HMAC-SHA256 Credential=a/20260101/us-east-1/s3/aws4_request, "
    "SignedHeaders=host, Signature=0",
}


def client_jars() -> str:
    """The group of jars with the S3A of the Hadoop of this process's Spark."""
    own = f"store-{PYSPARK_MINOR}"
    return own if is_group(own) else "store"


@dataclass(frozen=True)
class Request:
    """A request as the proxy sees it: its kind is `list`, `get`, `put`, `copy`, `part`, .. They are counted from 1."""

    method: str
    what: str
    key: str
    number: int
    headers: dict[str, str]


Fault = Callable[[Request], "tuple[int, str] | None"]
"""Says how a request fails: the status and S3's code, or None to pass it on."""


@dataclass
class S3Server:
    """The server, and the proxy that clients talk to.

    Attributes:
        fault: Decides about each request. Called by several threads.
        drops: Names of headers that are not passed on, as by a store that does not know them.
        late: Whether the request takes effect before the fault is returned.
    """

    url: str
    behind: int
    fault: Fault | None = None
    drops: frozenset[str] = frozenset()
    late: bool = False
    requests: list[Request] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)
    under_way: Counter[str] = field(default_factory=Counter)

    def counted(self) -> list[Request]:
        """The requests since the last call."""
        with self.lock:
            found, self.requests = self.requests, []
        return found

    def settings(self) -> dict[str, str]:
        """The settings of Spark with which S3A uses this server."""
        options = {
            "endpoint": self.url,
            "endpoint.region": "us-east-1",
            "path.style.access": "true",
            "access.key": "a",
            "secret.key": "b",
            "connection.ssl.enabled": "false",
        }
        return {f"spark.hadoop.fs.s3a.{key}": value for key, value in options.items()}

    def spark(self, work: Path, *, extension: bool = True, settings: dict[str, str] | None = None) -> SparkProcess:
        # As `spark.jars` each process would copy 700 MB.
        jars = {"spark.driver.extraClassPath": ":".join(fetched_jars(client_jars()))}
        return SparkProcess(work, {**self.settings(), **jars, **(settings or {})}, extension=extension)

    def ask(self, method: str, path: str, body: bytes = b"", headers: dict[str, str] | None = None) -> bytes:
        """Ask the server itself, past the proxy."""
        url = f"http://127.0.0.1:{self.behind}{path}"
        asked = urllib.request.Request(url, body or None, {**_HEADERS, **(headers or {})}, method=method)
        with urllib.request.urlopen(asked) as answer:
            return bytes(answer.read())

    @contextmanager
    def disturbed(self, fault: Fault | None = None, *, drops: str = "", late: bool = False) -> Iterator[None]:
        """Let requests fail, or lose a header, in between."""
        self.fault, self.drops, self.late = fault, frozenset({drops} - {""}), late
        try:
            yield
        finally:
            self.fault, self.drops, self.late = None, frozenset(), False

    def keys(self, prefix: str) -> list[str]:
        """The keys of at most a thousand objects."""
        path = f"/{BUCKET}?list-type=2&prefix={urllib.parse.quote(prefix)}"
        return re.findall("<Key>(.*?)</Key>", self.ask("GET", path).decode())

    def open_uploads(self) -> list[str]:
        """The keys of the uploads that are open."""
        return re.findall("<Key>(.*?)</Key>", self.ask("GET", f"/{BUCKET}?uploads").decode())


def _kind(method: str, query: str, headers: dict[str, str]) -> str:
    if "list-type" in query:
        return "list"
    if query.startswith("uploads"):
        return "start" if method == "POST" else "uploads"
    if "partNumber" in query:
        return "part"
    if "uploadId" in query:
        return {"POST": "complete", "DELETE": "abort"}.get(method, method.lower())
    if query.startswith("delete"):
        return "bulk-delete"
    return "copy" if "x-amz-copy-source" in headers else method.lower()


def _handler(server: S3Server) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        # Else an answer of two writes waits 40 ms for the acknowledgement of the first.
        disable_nagle_algorithm = True

        def log_message(self, *_: object) -> None:
            pass

        def _answer(self) -> None:
            found = re.search("Credential=([^/]*)/", self.headers.get("Authorization") or "")
            sender = found[1] if found else ""
            with server.lock:
                server.under_way[sender] += 1
            try:
                self._answer_counted()
            except (ConnectionError, TimeoutError):
                # The sender was killed.
                self.close_connection = True
            finally:
                with server.lock:
                    server.under_way[sender] -= 1

        def _answer_counted(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            headers = {name.lower(): value for name, value in self.headers.items()}
            path, _, query = self.path.partition("?")
            prefix = re.search("(?:^|&)prefix=([^&]*)", query)
            key = urllib.parse.unquote(prefix.group(1) if prefix else path.removeprefix(f"/{BUCKET}").strip("/"))
            with server.lock:
                number = len(server.requests) + 1
                request = Request(self.command, _kind(self.command, query, headers), key, number, headers)
                server.requests.append(request)
            failure = server.fault(request) if server.fault else None
            if failure is None or server.late:
                answer = self._passed_on(body, {k: v for k, v in headers.items() if k not in server.drops})
            if failure is None:
                self._send(*answer)
            else:
                status, code = failure
                text = f"<?xml version='1.0'?><Error><Code>{code}</Code><Message>by the test</Message></Error>"
                self._send(status, [("Content-Type", "application/xml")], text.encode())

        def _passed_on(self, body: bytes, headers: dict[str, str]) -> tuple[int, list[tuple[str, str]], bytes]:
            connection = http.client.HTTPConnection("127.0.0.1", server.behind, timeout=60)
            try:
                connection.request(self.command, self.path, body, headers)
                answer = connection.getresponse()
                return answer.status, answer.getheaders(), answer.read()
            finally:
                connection.close()

        def _send(self, status: int, headers: list[tuple[str, str]], body: bytes) -> None:
            self.send_response_only(status)
            kept = [(k, v) for k, v in headers if k.lower() not in ("connection", "transfer-encoding")]
            if self.command != "HEAD":
                kept = [(k, v) for k, v in kept if k.lower() != "content-length"]
                kept.append(("Content-Length", str(len(body))))
            for name, value in kept:
                self.send_header(name, value)
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(body)

        do_GET = do_PUT = do_POST = do_DELETE = do_HEAD = _answer  # noqa: N815

    return Handler


class _Proxy(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        # Connections of processes that were killed.
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)


@contextmanager
def s3_server() -> Iterator[S3Server]:
    """An S3 server in memory with an empty bucket, behind a proxy."""
    port = free_port()
    process = subprocess.Popen(
        [SERVER, "-p", str(port)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL
    )
    try:
        made = S3Server("", port)
        for _ in range(150):
            try:
                made.ask("PUT", f"/{BUCKET}")
                break
            except (urllib.error.URLError, ConnectionError):
                time.sleep(0.2)
        proxy = _Proxy(("127.0.0.1", 0), _handler(made))
        made.url = f"http://127.0.0.1:{proxy.server_port}"
        threading.Thread(target=proxy.serve_forever, daemon=True).start()
        try:
            yield made
        finally:
            proxy.shutdown()
            proxy.server_close()
    finally:
        process.kill()
        process.wait()
