"""Threads that do one thing after the other until they shall rest."""

from __future__ import annotations

import threading
import time
import traceback
from collections.abc import Sequence
from typing import Protocol

from load.events import WRONG, Events


class Loop(Protocol):
    """Something to do again and again."""

    def step(self) -> None:
        """Do it once, and say what came of it."""

    def pause(self) -> float:
        """Seconds until the next time."""

    def rest(self) -> None:
        """Let go of all that is held between two steps."""


class Loops:
    """A thread for each loop, while they work."""

    def __init__(self, loops: Sequence[Loop], events: Events) -> None:
        self._loops = loops
        self._events = events
        self._stop = threading.Event()
        self._threads: list[threading.Thread] = []

    def go(self) -> None:
        """Start."""
        self._stop.clear()
        self._threads = [threading.Thread(target=self._run, args=(loop,)) for loop in self._loops]
        for thread in self._threads:
            thread.start()

    def rest(self) -> None:
        """Let each end its step."""
        self._stop.set()
        for thread in self._threads:
            thread.join()
        self._threads = []

    def _run(self, loop: Loop) -> None:
        try:
            while not self._stop.is_set():
                began = time.time()
                try:
                    loop.step()
                except Exception:
                    # What is documented has been counted where it came.
                    self._events.add("loop", began, WRONG, problem=traceback.format_exc()[-3000:])
                self._stop.wait(loop.pause())
        finally:
            loop.rest()
