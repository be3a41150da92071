"""Runs the JVM's tests and Python's side by side, shows a line for each suite or file when it ends, and sums up.

    python tools/test_run.py [--most SECONDS] -- <command of the JVM's tests> -- <command of Python's tests>

Both commands print lines such as `  3.2 s  CutsSuite, 12 passed, 1 skipped`. Everything else that they print goes to
`build/test-logs`, but for what failed. With `--most`, the run fails if a suite or a file took longer, and also more
than `SHARE` of the time of all. Ctrl-C ends all processes that were started.
"""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import sys
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

LOGS = Path("build/test-logs")
# pytest may have printed the letters of failed tests before.
LINE = re.compile(r"^[FE]* *(\d+\.\d) s  (\S+), (\d+) passed(?:, (\d+) failed)?(?:, (\d+) skipped)?\s*$")
ANSI = re.compile(r"\x1b\[[0-9;]*[mJK]")
SILENT = 45
GOLDEN = "python/tests/statements/test_golden.py"
SHARE = 0.05
SECTION = re.compile(r"^=+ (FAILURES|ERRORS) =+$")


@dataclass(frozen=True)
class Ended:
    """A suite or a file, and its tests."""

    seconds: float
    name: str
    passed: int
    failed: int
    skipped: int


@dataclass
class Side:
    """One of the two commands."""

    name: str
    command: list[str]
    ended: list[Ended] = field(default_factory=list)
    status: int = -1


def descendants(roots: set[int]) -> set[int]:
    """Processes, those that they started, and so on."""
    printed = subprocess.run(["ps", "-A", "-o", "pid=,ppid="], capture_output=True, text=True, check=True).stdout
    pairs = [tuple(map(int, line.split())) for line in printed.splitlines()]
    found = set(roots)
    while more := {pid for pid, parent in pairs if parent in found} - found:
        found |= more
    return found


class Run:
    """Both commands, and what they have printed."""

    def __init__(self, sides: list[Side]) -> None:
        self.sides = sides
        self._begin = self._last = time.monotonic()
        self._lock = threading.Lock()
        self._processes: list[subprocess.Popen[str]] = []

    def say(self, line: str) -> None:
        """Print a line at once."""
        with self._lock:
            self._last = time.monotonic()
            print(line, flush=True)

    def _follow(self, side: Side, process: subprocess.Popen[str]) -> None:
        """Show the lines that people want to see, and keep all."""
        assert process.stdout is not None
        failing = False
        with (LOGS / f"{side.name}.log").open("w", errors="replace") as log:
            for printed in process.stdout:
                line = ANSI.sub("", printed.rstrip())
                log.write(line + "\n")
                ended = LINE.match(line)
                if ended:
                    seconds, name, passed, failed, skipped = ended.groups()
                    side.ended.append(Ended(float(seconds), name, int(passed), int(failed or 0), int(skipped or 0)))
                    failing = False
                    self.say(line)
                elif line.startswith("FAILED ") or SECTION.match(line):
                    failing = True
                if failing:
                    self.say(line)
        side.status = process.wait()

    def _still(self) -> None:
        """Say that tests go on, where no line has come for long."""
        while any(p.poll() is None for p in self._processes):
            time.sleep(1)
            if time.monotonic() - self._last > SILENT:
                running = [s.name for s, p in zip(self.sides, self._processes, strict=True) if p.poll() is None]
                self.say(f"          {round(time.monotonic() - self._begin)} s, still running: {', '.join(running)}")

    def go(self) -> None:
        """Run both to their ends."""
        LOGS.mkdir(parents=True, exist_ok=True)
        for side in self.sides:
            self._processes.append(
                subprocess.Popen(
                    side.command,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.STDOUT,
                    stdin=subprocess.DEVNULL,
                    text=True,
                    errors="replace",
                    start_new_session=True,
                )
            )
        threads = [
            threading.Thread(target=self._follow, args=pair) for pair in zip(self.sides, self._processes, strict=True)
        ]
        threads.append(threading.Thread(target=self._still, daemon=True))
        for thread in threads:
            thread.start()
        try:
            for thread in threads:
                while thread.is_alive():
                    thread.join(1)
        except KeyboardInterrupt:
            self.end()
            raise

    def end(self) -> None:
        """End all processes that were started, and those that they started, in whichever session."""
        below = descendants({process.pid for process in self._processes})
        for wanted in (signal.SIGTERM, signal.SIGKILL):
            for pid in below:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, wanted)
            time.sleep(2)

    def sum_up(self, most: float | None) -> int:
        """Print the last lines, and return the status of the run."""
        ended = [(side.name, line) for side in self.sides for line in side.ended]
        limit = max(most, SHARE * sum(e.seconds for _, e in ended)) if most else float("inf")
        slow = sorted((e for _, e in ended if e.seconds > limit), key=lambda e: -e.seconds)
        for e in slow:
            print(f"too slow: {e.name} took {e.seconds} s, more than {limit:.1f} s")
        for side, e in ended:
            if e.failed:
                file = f"{GOLDEN} -k {Path(e.name).stem}" if e.name.endswith(".sql") else e.name
                again = f"test-jvm SUITE='*{e.name}'" if side == "jvm" else f"test-python TEST='{file}'"
                print(f"again:    make {again}")
        broken = [side for side in self.sides if side.status != 0]
        for each in broken:
            if not any(e.failed for e in each.ended):
                print(f"failed:   {each.name}, with exit code {each.status}: see {LOGS / each.name}.log")
        passed, failed, skipped = (sum(getattr(e, of) for _, e in ended) for of in ("passed", "failed", "skipped"))
        seconds = round(time.monotonic() - self._begin)
        print(f"{passed:,} passed, {failed} failed, {skipped} skipped in {seconds // 60} min {seconds % 60} s")
        return 1 if broken or failed or slow else 0


def main(arguments: list[str]) -> int:
    """Run the tests that the arguments name."""
    most = None
    if arguments[0] == "--most":
        most, arguments = float(arguments[1]), arguments[2:]
    if arguments[0] != "--":
        raise SystemExit(f"not an argument: {arguments[0]}")
    second = arguments.index("--", 1)
    run = Run([Side("jvm", arguments[1:second]), Side("python", arguments[second + 1 :])])
    try:
        run.go()
    except KeyboardInterrupt:
        print("ended by Ctrl-C")
        return 130
    return run.sum_up(most)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
