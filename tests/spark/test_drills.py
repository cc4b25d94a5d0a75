"""Kill drills of the sink and of compact: see drills.py. `DRILLS=200` runs that many on a disk and in a store."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from threading import Thread
from typing import Any
from urllib.parse import quote

import pytest

pytest.importorskip("pyspark", reason="pyspark is not installed")
pytest.importorskip("pyarrow", reason="pyarrow is not installed")
pytestmark = [pytest.mark.slow, pytest.mark.spark]

from drills import FaultyServer

from patience import HANG

COUNT = int(os.environ.get("DRILLS", "0"))
HERE = Path(__file__).parent


def drills(place: str, count: int, moments: int) -> str:
    """Run drills in an interpreter that can be forked: no thread is in it."""
    path = os.pathsep.join([*sys.path, str(HERE), str(HERE.parent)])
    command = [sys.executable, "-W", "ignore", str(HERE / "drills.py"), place, "0", str(count), str(moments)]
    done = subprocess.run(
        command, capture_output=True, text=True, env=os.environ | {"PYTHONPATH": path}, timeout=HANG + 20 * count
    )
    print(done.stdout)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]
    return done.stdout


def test_on_a_disk(tmp_path: Path) -> None:
    log = drills(str(tmp_path / "logs"), COUNT or 10, 170)
    assert "killed" in log and "compact" in log


@pytest.fixture
def store() -> Iterator[tuple[str, FaultyServer]]:
    """A bucket of a server that fails, and the server."""
    pytest.importorskip("moto")
    boto3 = pytest.importorskip("boto3")
    from moto.moto_server.werkzeug_app import DomainDispatcherApplication, create_backend_app
    from werkzeug.serving import make_server

    server = FaultyServer(DomainDispatcherApplication(create_backend_app))
    web = make_server("127.0.0.1", 0, server, threaded=True)
    thread = Thread(target=web.serve_forever)
    thread.start()
    endpoint = f"http://127.0.0.1:{web.server_port}"
    keys: dict[str, Any] = {"aws_access_key_id": "key", "aws_secret_access_key": "secret"}
    boto3.client("s3", endpoint_url=endpoint, region_name="us-east-1", **keys).create_bucket(Bucket="drills")
    yield f"s3://drills/logs?endpoint_override={quote(endpoint, safe='')}&region=us-east-1", server
    web.shutdown()
    thread.join()
    web.server_close()


def test_in_a_store(store: tuple[str, FaultyServer]) -> None:
    place, _ = store
    log = drills(place, COUNT or 3, 200)
    assert "killed" in log and "compact" in log
