#!/usr/bin/env python3
"""Plants the bugs of tools/mutants.txt, one at a time, and checks whether the suite named for each finds it.

Works in a copy of the sources and drives one sbt for all bugs. For each bug it compiles the changed file and runs one
suite: first the tests that `make test` runs, then those of `make test-rest`, then all. The suite ends at its first
failed test, or after `--limit` seconds. The table says which run found the bug. The exit code is 1 if any bug was not
found in time.
"""

import argparse
import os
import queue
import re
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SPARKS = [line.split()[0] for line in (ROOT / "spark-versions.txt").read_text().splitlines() if line[:1].isdigit()]
*OLDER, NEWEST = SPARKS
PROJECT = f"spark{NEWEST.replace('.', '')}"
CONTROL = re.compile(r"\x1b\[[0-9;?]*[a-zA-Z]")
DONE = re.compile(r"\[(success|error)\] (?:elapsed|Total) time", re.IGNORECASE)
FAILED = re.compile(r"- (.*) \*\*\* FAILED \*\*\*")
ENDED = re.compile(r"Run completed in ")
TESTS = Path("jvm/src/test/scala")
SOURCES = Path("jvm/src/main/scala/org/sparkzorder")
DEFINED = re.compile(
    r"^(\s*)(?:@\w+ )?(?:(?:private|protected|override|final|implicit|lazy)(?:\[\w+\])? )*(?:def|val) (\w+)"
)
LONG = 900.0
# The tags of what a run leaves out.
RUNS = {"make test": ("TestRest", "TestAll"), "make test-rest": ("TestAll",), "make test-all": ()}


@dataclass(frozen=True)
class Mutant:
    """A bug: the correct text of a method, and the wrong text that replaces it."""

    name: str
    had_by: str
    method: str
    suite: str
    old: tuple[str, ...]
    new: tuple[str, ...]

    @property
    def file(self) -> Path:
        """The file of the method."""
        return SOURCES.joinpath(*self.method.split(".")[:-1]).with_suffix(".scala")

    def planted(self, text: str) -> str:
        """The file's text with the bug in it. Lines match whatever their indentation."""
        lines = text.split("\n")
        stripped = [line.strip() for line in lines]
        n = len(self.old)
        places = [
            i
            for i in sorted(lines_of(self.method.rpartition(".")[2], lines))
            if (self.old[0] in stripped[i] if n == 1 else tuple(stripped[i : i + n]) == self.old)
        ]
        if len(places) != 1:
            raise SystemExit(f"'{self.name}': {self.method} has its text {len(places)} times, not once")
        at = places[0]
        changed = [lines[at].replace(self.old[0], "\n".join(self.new))] if n == 1 else list(self.new)
        return "\n".join(lines[:at] + changed + lines[at + n :])


def lines_of(name: str, lines: list[str]) -> set[int]:
    """The numbers of the lines of all methods and values with a name."""
    found: set[int] = set()
    for start, line in enumerate(lines):
        defined = DEFINED.match(line)
        if defined and defined[2] == name:
            depth = len(defined[1])
            rest = enumerate(lines[start + 1 :], start + 1)
            end = next(
                (i for i, of in rest if of.strip() and of[: depth + 1].strip() and of.strip()[0] not in "})"), None
            )
            found.update(range(start, len(lines) if end is None else end))
    return found


def read(path: Path) -> list[Mutant]:
    """Read all bugs of a file, in order."""
    mutants = []
    for block in path.read_text().split("\n== ")[1:]:
        name, *lines = block.rstrip().split("\n")
        fields = dict(line.split(": ", 1) for line in lines if line[:2] not in ("- ", "+ ") and line)
        old = tuple(line[2:].strip() for line in lines if line.startswith("- "))
        new = tuple(line[2:].strip() for line in lines if line.startswith("+ "))
        mutants.append(Mutant(name.strip(), fields["had by"], fields["method"], fields["suite"], old, new))
    return mutants


class Lines:
    """Runs a process and reads its output line by line."""

    def __init__(self, command: list[str], folder: Path, log: Path) -> None:
        self.log = log.open("a")
        self.lines: queue.Queue[str | None] = queue.Queue()
        self.process = subprocess.Popen(
            command, cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        assert self.process.stdout
        for line in self.process.stdout:
            self.lines.put(CONTROL.sub("", line.rstrip("\n")))
        self.lines.put(None)

    def until(self, enough: Callable[[str], object], limit: float) -> list[str]:
        """Return the lines up to the first that is `enough`, up to the end, or those of `limit` seconds."""
        end = time.monotonic() + limit
        printed: list[str] = []
        while True:
            try:
                line = self.lines.get(timeout=max(0.0, end - time.monotonic()))
            except queue.Empty:
                return printed
            if line is None:
                return printed
            self.log.write(line + "\n")
            self.log.flush()
            printed.append(line)
            if enough(line):
                return printed

    def stop(self) -> None:
        """Kill the process."""
        self.process.kill()
        self.process.wait()


class Suites:
    """Compiles with one sbt, and runs suites in a JVM each, which can be killed at any time."""

    def __init__(self, sbt: str, sources: Path, log: Path) -> None:
        self.sources = sources
        self.log = log
        self.sbt = Lines(sbt.split(), sources, log)
        if not self.compiled():
            raise SystemExit(f"the sources do not compile; see {log}")
        # A prompt may precede the output of sbt.
        shown = (line.partition("[info] * ")[2] for line in self._told("show {}/Test/javaOptions"))
        self.java = [option.strip() for option in shown if option]
        # `export` prints no line at its end.
        told = self._told("export {}/Test/fullClasspath", lambda line: ".jar" + os.pathsep in line)[-1]
        self.path = told[told.index(os.sep) :]
        self.classes = max((p for p in self.path.split(os.pathsep) if p.endswith("test-classes")), key=len)

    def _told(self, command: str, last: Callable[[str], object] = DONE.search) -> list[str]:
        assert self.sbt.process.stdin
        self.sbt.process.stdin.write(command.format(PROJECT) + "\n")
        self.sbt.process.stdin.flush()
        printed = self.sbt.until(last, LONG)
        if not printed or not last(printed[-1]):
            raise SystemExit(f"sbt ended or does not answer; see {self.log}")
        return printed

    def compiled(self) -> bool:
        """Compile the changed files, and return whether they compile."""
        return "success" in self._told("{}/Test/compile")[-1]

    def failed(self, suites: list[str], limit: float, leave_out: tuple[str, ...] = ()) -> str | None:
        """Return the first test that fails within the limit, if any. Tests with some tags are left out."""
        command = ["java", *self.java, "-cp", self.path, "org.scalatest.tools.Runner", "-R", self.classes, "-oWD"]
        for suite in suites:
            file = next((self.sources / TESTS).rglob(f"{suite}.scala"))
            command += ["-s", ".".join(file.relative_to(self.sources / TESTS).with_suffix("").parts)]
        command += [word for tag in leave_out for word in ("-l", f"org.sparkzorder.{tag}")]
        run = Lines(command, self.sources, self.log)
        try:
            printed = run.until(lambda line: FAILED.match(line) or ENDED.match(line), limit)
        finally:
            run.stop()
        found = FAILED.match(printed[-1]) if printed else None
        if not found and limit > LONG and not (printed and ENDED.match(printed[-1])):
            raise SystemExit(f"the suites do not end; see {self.log}")
        return found.group(1) if found else None


def copy_sources(to: Path) -> None:
    """Copy the sources that sbt needs for the newest Spark."""
    # Compiled classes are copied too, so that the first compilation is short.
    keep = shutil.ignore_patterns(".git", "build", ".venv", *(f"spark-{older}" for older in OLDER), "*.jar", "data")
    shutil.copytree(ROOT, to, symlinks=True, ignore=keep)
    if (ROOT / ".venv").exists():
        (to / ".venv").symlink_to((ROOT / ".venv").resolve())


def try_out(suites: Suites, mutant: Mutant, limit: float) -> tuple[bool, str]:
    """Plant one bug. Return whether a test found it, and the lines for the table."""
    target = suites.sources / mutant.file
    original = target.read_text()
    target.write_text(mutant.planted(original))
    began = time.monotonic()
    compiled = suites.compiled()
    compiling = time.monotonic() - began
    began = time.monotonic()
    tried = ((run, suites.failed([mutant.suite], limit, left_out)) for run, left_out in RUNS.items() if compiled)
    run, test = next((found for found in tried if found[1]), ("", None))
    testing = time.monotonic() - began
    target.write_text(original)
    verdict = f"{run}, {mutant.suite}: {test}" if test else "NOT FOUND" if compiled else "DOES NOT COMPILE"
    return test is not None, f"{testing:7.1f} {compiling:9.1f}  {mutant.name}\n{'':17}  {verdict}"


def main() -> int:
    """Plant all bugs and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="only check that the sources have the text of each bug")
    parser.add_argument("--sbt", help="the command that starts sbt in the folder of the sources")
    parser.add_argument("--work", type=Path, default=ROOT / "build" / "mutants", help="the folder for the copy")
    parser.add_argument("--out", type=Path, help="also write the table to this file")
    parser.add_argument("--only", default="", help="only bugs with this text in their name")
    parser.add_argument("--limit", type=float, default=90.0, help="the time limit of a suite in seconds")
    args = parser.parse_args()

    mutants = [m for m in read(ROOT / "tools" / "mutants.txt") if args.only in m.name]
    for m in mutants:
        m.planted((ROOT / m.file).read_text())
    if args.check or not args.sbt:
        print(f"{len(mutants)} bugs can be planted")
        return 0
    shutil.rmtree(args.work, ignore_errors=True)
    args.work.parent.mkdir(parents=True, exist_ok=True)
    sources = args.work / "sources"
    copy_sources(sources)
    table: list[str] = []

    def say(line: str) -> None:
        print(line, flush=True)
        table.append(line)

    suites = Suites(args.sbt, sources, args.work / "sbt.log")
    try:
        began = time.monotonic()
        wrong = suites.failed(sorted({m.suite for m in mutants}), 1800)
        if wrong:
            raise SystemExit(f"this test fails without any bug: {wrong}")
        say(f"without a bug all suites pass in {time.monotonic() - began:.0f} s")
        say("  seconds of tests and of compiling; the bug; the first test that found it")
        caught = 0
        for m in mutants:
            found, line = try_out(suites, m, args.limit)
            caught += found
            say(line)
        say(f"{caught} of {len(mutants)} bugs found, each within {args.limit:.0f} s of testing")
    finally:
        suites.sbt.stop()
        if args.out and table:
            args.out.write_text("\n".join(table) + "\n")
    return 0 if caught == len(mutants) else 1


if __name__ == "__main__":
    sys.exit(main())
