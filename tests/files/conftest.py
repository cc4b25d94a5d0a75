"""A real S3 server on loopback, which counts its requests."""

import os
import socket
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, quote

import pytest

_AZURITE_ACCOUNT = "devstoreaccount1"  # its only one, and the key that its documentation says
_AZURITE_KEY = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="


@dataclass
class S3Server:
    """moto's server, and the requests that it got."""

    endpoint: str
    client: Any
    requests: list[tuple[str, str, str | None]] = field(default_factory=list)
    askers: list[str] = field(default_factory=list)  # what each request says of who asks
    answers: list[Any] = field(default_factory=list)  # to GET, in place of its own: a status, or an application
    refuses_conditions: bool = False  # as servers that know no conditional writes

    def url(self, path: str) -> str:
        return f"s3://{path}?endpoint_override={quote(self.endpoint, safe='')}&region=us-east-1"

    def put(self, path: str, data: bytes) -> None:
        bucket, _, key = path.partition("/")
        self.client.put_object(Bucket=bucket, Key=key, Body=data)

    def get(self, path: str) -> bytes:
        bucket, _, key = path.partition("/")
        return self.client.get_object(Bucket=bucket, Key=key)["Body"].read()

    def keys(self, bucket: str) -> list[str]:
        return [entry["Key"] for entry in self.client.list_objects_v2(Bucket=bucket).get("Contents", [])]

    def asked(self, method: str) -> list[tuple[str, str | None]]:
        """(path, range) of each request of that kind; of LIST, (path, prefix)."""
        return [(path, part) for verb, path, part in self.requests if verb == method]


class _Counting:
    """The server's application, with a note of each request, and answers of our own."""

    def __init__(self, application: Any) -> None:
        self.application = application
        self.server: S3Server | None = None

    def __call__(self, environ: dict[str, Any], start_response: Any) -> Any:
        if self.server is not None:
            path = environ["PATH_INFO"]
            query = environ.get("QUERY_STRING", "")
            method = "LIST" if "list-type" in query else environ["REQUEST_METHOD"]
            part = environ.get("HTTP_RANGE")
            if method == "LIST":
                part = parse_qs(query).get("prefix", [""])[0]
            self.server.requests.append((method, path, part))
            self.server.askers.append(environ.get("HTTP_AUTHORIZATION", ""))
            if self.server.answers and method == "GET":
                status = self.server.answers.pop(0)
                if callable(status):
                    return status(environ, start_response)
                start_response(status, [("Content-Type", "application/xml"), ("Content-Length", "0")])
                return [b""]
            if self.server.refuses_conditions and "HTTP_IF_NONE_MATCH" in environ:
                start_response("501 Not Implemented", [("Content-Length", "0")])
                return [b""]
        return self.application(environ, start_response)


@pytest.fixture(scope="session")
def s3_server() -> Iterator[S3Server]:
    pytest.importorskip("moto")
    boto3 = pytest.importorskip("boto3")
    pytest.importorskip("pyarrow.fs")
    from threading import Thread

    from moto.moto_server.werkzeug_app import DomainDispatcherApplication, create_backend_app
    from werkzeug.serving import make_server

    counting = _Counting(DomainDispatcherApplication(create_backend_app))
    web = make_server("127.0.0.1", 0, counting, threaded=True)
    thread = Thread(target=web.serve_forever)
    thread.start()
    endpoint = f"http://127.0.0.1:{web.server_port}"
    client = boto3.client(
        "s3", endpoint_url=endpoint, region_name="us-east-1", aws_access_key_id="key", aws_secret_access_key="secret"
    )
    counting.server = S3Server(endpoint, client)
    yield counting.server
    web.shutdown()
    thread.join()
    web.server_close()


@pytest.fixture
def s3(s3_server: S3Server, monkeypatch: pytest.MonkeyPatch) -> S3Server:
    for name, value in {"AWS_ACCESS_KEY_ID": "key", "AWS_SECRET_ACCESS_KEY": "secret"}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    s3_server.client.create_bucket(Bucket="logs")
    yield s3_server
    for key in s3_server.keys("logs"):
        s3_server.client.delete_object(Bucket="logs", Key=key)
    s3_server.requests.clear()
    s3_server.askers.clear()
    s3_server.answers.clear()


@pytest.fixture(scope="session")
def azurite() -> Iterator[Any]:
    """pyarrow's file system of Azure, on Azurite, whose script RECORDPRESS_AZURITE names: `make -f labs.mk azure`."""
    script = os.environ.get("RECORDPRESS_AZURITE")
    if not script:
        pytest.skip("no Azurite: make -f labs.mk azure")
    fs = pytest.importorskip("pyarrow.fs")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = ["node", script, "--inMemoryPersistence", "--silent", "--skipApiVersionCheck", "--blobPort", str(port)]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert server.stdout is not None
    assert any("successfully listens" in line for line in server.stdout)
    place = dict.fromkeys(("blob_storage_authority", "dfs_storage_authority"), f"127.0.0.1:{port}")
    scheme = dict.fromkeys(("blob_storage_scheme", "dfs_storage_scheme"), "http")
    yield fs.AzureFileSystem(_AZURITE_ACCOUNT, account_key=_AZURITE_KEY, **place, **scheme)
    server.terminate()
    server.wait()
    server.stdout.close()


@pytest.fixture
def azure(azurite: Any) -> Iterator[Any]:
    """The same, with an empty container ``logs``."""
    azurite.create_dir("logs")
    yield azurite
    azurite.delete_dir("logs")


@pytest.fixture(scope="session")
def name_node(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    """The port of HDFS in a separate process, if libhdfs is there: `make -f labs.mk hdfs`."""
    if "ARROW_LIBHDFS_DIR" not in os.environ:
        pytest.skip("no libhdfs: make -f labs.mk hdfs")
    program = Path(__file__).parent / "hadoop" / "Cluster.java"
    command = ["java", "-cp", os.environ["CLASSPATH"], str(program), str(tmp_path_factory.mktemp("hdfs"))]
    pipes: Any = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    with subprocess.Popen(command, text=True, **pipes) as server:
        assert server.stdout is not None and server.stdin is not None
        port = next(int(line.split()[-1]) for line in server.stdout if "name node" in line)
        yield port
        server.stdin.close()


@pytest.fixture
def hdfs(name_node: int) -> Iterator[Any]:
    """pyarrow's file system of HDFS, with an empty directory ``/logs``."""
    fs = pytest.importorskip("pyarrow.fs")
    made = fs.HadoopFileSystem("127.0.0.1", name_node)
    made.create_dir("/logs")
    yield made
    made.delete_dir("/logs")
