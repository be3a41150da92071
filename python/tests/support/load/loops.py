"""Threads that repeat one thing until they are told to rest."""

import threading
import time
import traceback
from collections.abc import Sequence
from typing import Protocol

from load.events import WRONG, Events


class Loop(Protocol):
    """Something to repeat."""

    def step(self) -> None:
        """Do it once, and return the event."""

    def pause(self) -> float:
        """The seconds until the next time."""

    def rest(self) -> None:
        """Release all that is held between two steps. Most loops hold nothing."""
        return


class Loops:
    """Runs a thread for each loop."""

    def __init__(self, loops: Sequence[Loop], events: Events) -> None:
        self._loops = loops
        self._events = events
        self._stop = threading.Event()
        self._threads: list[threading.Thread] = []

    def go(self) -> None:
        self._stop.clear()
        self._threads = [threading.Thread(target=self._run, args=(loop,)) for loop in self._loops]
        for thread in self._threads:
            thread.start()

    def rest(self) -> None:
        """Let each loop end its step."""
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
                    # Documented failures were counted where they came up.
                    self._events.add("loop", began, WRONG, problem=traceback.format_exc()[-3000:])
                self._stop.wait(loop.pause())
        finally:
            loop.rest()
