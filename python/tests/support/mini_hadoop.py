"""A small cluster of Hadoop on this host, in a JVM of its own."""

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from fetched_jars import fetched_jars
from processes import java, wait_until
from servers import HOME


@contextmanager
def mini_hadoop(work: Path, program: str, ready: str) -> Iterator[Path]:
    """The folder of the client's configuration, while a Java program beside this file runs the cluster.

    Java compiles the source itself. `ready` is the file of the configuration that comes last.
    """
    folder = work / "conf"
    folder.mkdir()
    path = os.pathsep.join([*fetched_jars("yarn"), f"{HOME}/jars/*"])
    command = [java(), "-Xmx512m", "-cp", path, str(Path(__file__).with_name(program)), str(folder)]
    with (work / "log").open("w") as log:
        started = subprocess.Popen(command, cwd=work, stdin=subprocess.PIPE, stdout=log, stderr=subprocess.STDOUT)
    try:
        wait_until(lambda: (folder / ready).exists() or started.poll() is not None, "the cluster", 300)
        assert started.poll() is None, (work / "log").read_text()[-3000:]
        yield folder
    finally:
        started.kill()
        started.wait()
