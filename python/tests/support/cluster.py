"""A standalone cluster of two workers on this host, whose processes a test may stop and kill."""

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pyspark
from processes import free_port, wait_until


class Cluster:
    """A master and two workers of one core each."""

    def __init__(self, work: Path) -> None:
        self._work = work
        work.mkdir(parents=True)
        self._processes: list[subprocess.Popen[bytes]] = []
        try:
            self._start_all(work)
        except BaseException:
            self.stop()
            raise

    def _start_all(self, work: Path) -> None:
        port = free_port()
        self.url = f"spark://127.0.0.1:{port}"
        master = "org.apache.spark.deploy.master.Master"
        self._start("master", master, "--host", "127.0.0.1", "--port", str(port), "--webui-port", str(free_port()))
        self._wait_for("master", "I have been elected leader")
        worker = "org.apache.spark.deploy.worker.Worker"
        for i in (1, 2):
            # Spark does not retry a task on the host of its first attempt. So the two workers pose as two hosts.
            name, host = f"worker-{i}", f"127.0.0.{i}"
            arguments = ("--host", host, "--webui-port", str(free_port()), "--cores", "1", "--memory", "1g")
            self._start(name, worker, *arguments, "--work-dir", str(work / f"{name}-work"), self.url, host=host)
        for i in (1, 2):
            self._wait_for(f"worker-{i}", "Successfully registered with master")

    def _start(self, name: str, *arguments: str, host: str = "127.0.0.1") -> None:
        home = Path(pyspark.__file__).parent
        environment = os.environ | {
            "SPARK_HOME": str(home),
            "SPARK_LOCAL_IP": host,
            "SPARK_DAEMON_MEMORY": "256m",
            "SPARK_LOCAL_DIRS": str(self._work / "scratch"),
            "PYSPARK_PYTHON": sys.executable,
        }
        with (self._work / name).open("wb") as log:
            command = [str(home / "bin" / "spark-class"), *arguments]
            process = subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT, env=environment)
        self._processes.append(process)

    def _wait_for(self, name: str, words: str) -> None:
        log = self._work / name
        wait_until(lambda: words in log.read_text(errors="replace"), f"{words!r} of the {name}")

    def executors(self) -> list[int]:
        """The process ids of all executors on the two workers."""
        workers = {process.pid for process in self._processes[1:]}
        return sorted(pid for pid, parent in _parents().items() if parent in workers and _is_executor(pid))

    def kill_worker(self, number: int) -> None:
        """Kill a worker, 1 or 2, at once. Its executor ends by itself when it misses the worker."""
        self._processes[number].kill()
        self._processes[number].wait()

    def stop(self) -> None:
        for pid in self.executors():
            _kill(pid)
        for process in reversed(self._processes):
            process.kill()
            process.wait()


def _kill(pid: int) -> None:
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        return


def _parents() -> dict[int, int]:
    found = {}
    for entry in Path("/proc").iterdir():
        if re.fullmatch(r"\d+", entry.name):
            try:
                found[int(entry.name)] = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            except OSError:
                continue
    return found


def _is_executor(pid: int) -> bool:
    try:
        return b"CoarseGrainedExecutorBackend" in Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return False
