"""Another process with Spark and the extension. Its statements stop at points that a test chooses."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

from local_session import SMALL, local_session
from processes import is_running, start_child, wait_until
from steps import PROPERTY, environment, step


class Rival:
    """A process that runs statements, each in a thread of its own. So many can stop at the same time."""

    def __init__(self, work: Path) -> None:
        self._work = work
        work.mkdir(parents=True, exist_ok=True)
        self._log = (work / "log").open("w")
        self._process = start_child(
            __file__, str(work), stdout=subprocess.PIPE, stderr=self._log, variables=environment()
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

    def _send(self, sql: str | None, asked: str) -> int:
        assert self._process.stdin is not None
        self._asked += 1
        message = {"number": self._asked, "sql": sql, "step": asked}
        self._process.stdin.write(json.dumps(message) + "\n")
        self._process.stdin.flush()
        return self._asked

    def run(self, sql: str) -> Running:
        """Start a statement that does not stop."""
        return Running(self, self._send(sql, ""), None)

    def pause(self, sql: str, place: str) -> Running:
        """Start a statement, and return when it has stopped at a step. It is an error if it ends before."""
        gate = self._work / f"gate-{self._asked + 1}"
        running = Running(self, self._send(sql, step(place, gate)), gate)
        running.wait_until_paused()
        return running

    def next_pause(self, running: Running, place: str) -> Running:
        """Let a stopped statement go on to another step."""
        gate = self._work / f"gate-{self._asked + 1}"
        number = self._send(None, step(place, gate))
        self.answer(number)
        running.release()
        again = Running(self, running.number, gate)
        again.wait_until_paused()
        return again

    def answer(self, number: int) -> dict[str, Any]:
        """Wait for the end of a statement, and return its outcome."""
        wait_until(lambda: number in self._answers or self._process.poll() is not None, f"an answer to {number}")
        if number not in self._answers:
            raise RuntimeError(f"the rival ended: {(self._work / 'log').read_text()[-3000:]}")
        return self._answers[number]

    def has_answered(self, number: int) -> bool:
        """Whether a statement has ended."""
        return number in self._answers

    def kill(self) -> None:
        """Kill the process, as a crash would. None of its statements runs another step."""
        os.kill(self._jvm, signal.SIGKILL)
        self._process.kill()
        self._process.wait()
        self._log.close()
        wait_until(lambda: not is_running(self._jvm), "its end")


class Running:
    """A statement of a rival."""

    def __init__(self, rival: Rival, number: int, gate: Path | None) -> None:
        self._rival, self.number, self._gate = rival, number, gate

    def wait_until_paused(self) -> None:
        """Wait until it has stopped."""
        reached = Path(f"{self._gate}.reached")
        wait_until(lambda: reached.exists() or self._rival.has_answered(self.number), f"{reached}")
        if not reached.exists():
            raise RuntimeError(f"it did not stop at the step: {self._rival.answer(self.number)}")

    def release(self) -> None:
        """Let it go on."""
        if self._gate is not None:
            self._gate.touch()

    def error(self) -> str | None:
        """Let it go on, wait for its end, and return the error's condition. None without an error."""
        self.release()
        answer = self._rival.answer(self.number)
        condition: str | None = answer["error"]
        return condition

    def rows(self) -> list[list[Any]]:
        """Let it go on, wait for its end, and return the rows of its result."""
        self.release()
        answer = self._rival.answer(self.number)
        assert answer["error"] is None, answer
        return list(answer["rows"])


def serve(work: Path) -> None:
    """Run the statements that come in on standard input, one in each line."""
    from comparison import ERRORS, condition_of

    spark = local_session(work, settings=SMALL)
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
        except ERRORS as error:
            say({"number": number, "error": condition_of(error), "message": str(error)[:2000]})

    say({"jvm": jvm.java.lang.ProcessHandle.current().pid()})
    for line in sys.stdin:
        message = json.loads(line)
        jvm.java.lang.System.setProperty(PROPERTY, message["step"])
        if message["sql"] is None:
            say({"number": message["number"], "error": None})
        else:
            threading.Thread(target=run, args=(message["number"], message["sql"]), daemon=True).start()


if __name__ == "__main__":
    serve(Path(sys.argv[1]))
