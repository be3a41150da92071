"""A Spark of its own, in a process that a test tells what to run and may kill."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import traceback
from pathlib import Path
from typing import Any

_ANSWER = "ANSWER "


class SparkProcess:
    """The process, seen from a test."""

    def __init__(
        self, work: Path, settings: dict[str, str], *, extension: bool = True, environment: dict[str, str] | None = None
    ) -> None:
        """Start Spark, with a folder for what it writes to disk."""
        work.mkdir(parents=True, exist_ok=True)
        self.log = (work / "log.txt").open("w")
        self.process = subprocess.Popen(
            [sys.executable, __file__, json.dumps(settings), str(extension)],
            cwd=work,
            env={**os.environ, "PYTHONUNBUFFERED": "1", **(environment or {})},
            text=True,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.log,
            start_new_session=True,
        )
        self._receive()

    def send(self, code: str) -> None:
        """Have code run that sets `result`."""
        assert self.process.stdin
        self.process.stdin.write(json.dumps(code) + "\n")
        self.process.stdin.flush()

    def _receive(self) -> Any:
        assert self.process.stdout
        for line in self.process.stdout:
            if line.startswith(_ANSWER):
                answer = json.loads(line.removeprefix(_ANSWER))
                if "error" in answer:
                    raise AssertionError(answer["error"])
                return answer["result"]
        self.log.flush()
        raise AssertionError(Path(self.log.name).read_text()[-6000:])

    def run(self, code: str) -> Any:
        self.send(code)
        return self._receive()

    def sql(self, statement: str) -> list[dict[str, Any]]:
        """The rows of a statement, with what JSON cannot hold as text."""
        found: list[dict[str, Any]] = self.run(f"result = rows(spark.sql({statement!r}))")
        return found

    def ids(self, frame: str) -> tuple[int, int]:
        """The number of rows, and of different ones, of a frame in Python."""
        found = self.run(f"frame = {frame}\nresult = [frame.count(), frame.select('id').distinct().count()]")
        return found[0], found[1]

    def refused(self, statement: str) -> tuple[str, str]:
        """The condition and the message of the error that a statement ends with."""
        found = self.run(f"result = refused(spark, {statement!r})")
        assert found[0], f"not refused: {statement}"
        return found[0], found[1]

    def kill(self) -> None:
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        self.log.close()

    def end(self) -> None:
        """Let the process and its JVM end by themselves."""
        assert self.process.stdin
        self.process.stdin.close()
        self.process.wait()
        self.log.close()

    def stop(self) -> None:
        if self.process.poll() is None:
            self.kill()

    def __enter__(self) -> SparkProcess:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()


def _main() -> None:
    from comparison import refused
    from pyspark.sql import DataFrame, SparkSession

    from spark_zorder import configure_spark

    builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    builder.config("spark.ui.showConsoleProgress", "false")
    for key, value in json.loads(sys.argv[1]).items():
        builder.config(key, value)
    spark = (configure_spark(builder) if sys.argv[2] == "True" else builder).getOrCreate()

    def rows(frame: DataFrame) -> list[dict[str, Any]]:
        return [json.loads(json.dumps(row.asDict(recursive=True), default=str)) for row in frame.collect()]

    def files(root: str) -> list[str]:
        """All files below a folder, relative to it."""
        assert spark._jvm
        path = spark._jvm.org.apache.hadoop.fs.Path(root)
        storage = path.getFileSystem(spark._jsc.sc().hadoopConfiguration())
        left, names = storage.listFiles(path, True), []
        while left.hasNext():
            names.append(left.next().getPath().toString().removeprefix(storage.makeQualified(path).toString() + "/"))
        return sorted(names)

    known: dict[str, Any] = {"spark": spark, "rows": rows, "refused": refused, "files": files}
    print(_ANSWER + json.dumps({"result": "ready"}), flush=True)

    def answer(code: str) -> dict[str, Any]:
        try:
            exec(code, known)
            return {"result": known.get("result")}
        except Exception:
            return {"error": traceback.format_exc()[-6000:]}

    for line in sys.stdin:
        print(_ANSWER + json.dumps(answer(json.loads(line))), flush=True)


if __name__ == "__main__":
    _main()
