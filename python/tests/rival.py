"""Another process with Spark and the extension, whose statements stop where a test says."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

SECONDS = 120.0
"""How long a test waits for anything before it fails."""


class Rival:
    """A process that runs statements, each in a thread of its own, so that many can stand still at once.

    Args:
        work: A folder of its own.
    """

    def __init__(self, work: Path) -> None:
        self._work = work
        work.mkdir(parents=True, exist_ok=True)
        environment = os.environ | {"SPARK_LOCAL_IP": "127.0.0.1", "PYTHONPATH": os.pathsep.join(sys.path)}
        # The handshake of pyspark with its JVM is not inherited: this one has a JVM of its own.
        for name in ("PYSPARK_GATEWAY_PORT", "PYSPARK_GATEWAY_SECRET"):
            environment.pop(name, None)
        self._log = (work / "log").open("w")
        self._process = subprocess.Popen(
            [sys.executable, __file__, str(work)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            env=environment,
            text=True,
        )
        self._answers: dict[int, dict[str, Any]] = {}
        self._asked = 0
        self._jvm = int(self._next()["jvm"])
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _next(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(f"the rival ended: {(self._work / 'log').read_text()[-3000:]}")
        return dict(json.loads(line))

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            answer = json.loads(line)
            self._answers[answer["number"]] = answer

    def _send(self, sql: str | None, failpoint: str) -> int:
        assert self._process.stdin is not None
        self._asked += 1
        message = {"number": self._asked, "sql": sql, "failpoint": failpoint}
        self._process.stdin.write(json.dumps(message) + "\n")
        self._process.stdin.flush()
        return self._asked

    def run(self, sql: str) -> Running:
        """Start a statement that stops nowhere."""
        return Running(self, self._send(sql, ""), None)

    def pause(self, sql: str, failpoint: str) -> Running:
        """Start a statement and return when it stands still at a failpoint.

        Raises:
            RuntimeError: It ended before it came there.
        """
        gate = self._work / f"gate-{self._asked + 1}"
        running = Running(self, self._send(sql, f"{failpoint}:pause:{gate}"), gate)
        running.wait_until_paused()
        return running

    def next_pause(self, running: Running, failpoint: str) -> Running:
        """Let a statement that stands still go on to another failpoint."""
        gate = self._work / f"gate-{self._asked + 1}"
        number = self._send(None, f"{failpoint}:pause:{gate}")
        self.answer(number)
        running.release()
        again = Running(self, running.number, gate)
        again.wait_until_paused()
        return again

    def answer(self, number: int) -> dict[str, Any]:
        """What came of a statement; waits for it."""
        _until(lambda: number in self._answers or self._process.poll() is not None, f"an answer to {number}")
        if number not in self._answers:
            raise RuntimeError(f"the rival ended: {(self._work / 'log').read_text()[-3000:]}")
        return self._answers[number]

    def has_answered(self, number: int) -> bool:
        """Whether a statement has ended."""
        return number in self._answers

    def kill(self) -> None:
        """End it as a crash would: nothing of it runs another step."""
        os.kill(self._jvm, signal.SIGKILL)
        self._process.kill()
        self._process.wait()
        self._log.close()
        _until(lambda: not _runs(self._jvm), "its end")


class Running:
    """A statement of a rival."""

    def __init__(self, rival: Rival, number: int, gate: Path | None) -> None:
        self._rival = rival
        self.number = number
        self._gate = gate

    def wait_until_paused(self) -> None:
        """Wait until it stands still."""
        reached = Path(f"{self._gate}.reached")
        _until(lambda: reached.exists() or self._rival.has_answered(self.number), f"{reached}")
        if not reached.exists():
            raise RuntimeError(f"it did not stop: {self._rival.answer(self.number)}")

    def release(self) -> None:
        """Let it go on."""
        if self._gate is not None:
            self._gate.touch()

    def error(self) -> str | None:
        """The error's condition, None when all went well; lets it go on and waits for its end."""
        self.release()
        answer = self._rival.answer(self.number)
        condition: str | None = answer["error"]
        return condition

    def rows(self) -> list[list[Any]]:
        """Its result's rows; lets it go on and waits for its end."""
        self.release()
        answer = self._rival.answer(self.number)
        assert answer["error"] is None, answer
        return list(answer["rows"])


def _until(reached: Any, what: str) -> None:
    end = time.monotonic() + SECONDS
    while not reached():
        if time.monotonic() > end:
            raise TimeoutError(f"waited {SECONDS:.0f} s for {what}")
        time.sleep(0.01)


def _runs(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    stat = Path(f"/proc/{pid}/stat")
    try:
        # A zombie that nobody has asked for yet runs no more.
        return not stat.exists() or stat.read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def serve(work: Path) -> None:
    """Run what comes in on standard input, a statement a line."""
    from comparison import condition_of
    from py4j.protocol import Py4JJavaError
    from pyspark.errors import PySparkException
    from pyspark.sql import SparkSession

    from spark_zorder import configure_spark

    builder = (
        SparkSession.builder.master("local[2]")
        .config("spark.driver.memory", "1g")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.sql.catalogImplementation", "in-memory")
        .config("spark.sql.warehouse.dir", str(work / "warehouse"))
        .config("spark.local.dir", str(work / "scratch"))
    )
    spark = configure_spark(builder).getOrCreate()
    spark.sparkContext.setLogLevel("WARN")
    jvm: Any = spark.sparkContext._jvm
    out = threading.Lock()

    def say(answer: dict[str, Any]) -> None:
        with out:
            print(json.dumps(answer, default=str), flush=True)

    def run(number: int, sql: str) -> None:
        try:
            rows = [list(row) for row in spark.sql(sql).collect()]
            say({"number": number, "rows": rows, "error": None})
        except (PySparkException, Py4JJavaError) as error:
            say({"number": number, "error": condition_of(error), "message": str(error)[:2000]})

    say({"jvm": jvm.java.lang.ProcessHandle.current().pid()})
    for line in sys.stdin:
        message = json.loads(line)
        jvm.java.lang.System.setProperty("spark.zorder.test.failpoint", message["failpoint"])
        if message["sql"] is None:
            say({"number": message["number"], "error": None})
        else:
            threading.Thread(target=run, args=(message["number"], message["sql"]), daemon=True).start()


if __name__ == "__main__":
    serve(Path(sys.argv[1]))
