# SPDX-License-Identifier: GPL-2.0-or-later
"""Terminal output during a comparison: one changing line, or occasional lines if the output goes to a
file."""
import sys
import time

PLAIN_EVERY = 20.0      # seconds


class Progress:
    """print() goes through `line`, so that a changing line never mixes with others."""

    def __init__(self, out=None, clock=time.monotonic):
        self.out = out or sys.stdout
        self.tty = self.out.isatty()
        self.clock = clock
        self.shown = clock()
        self.width = 0

    def line(self, text=""):
        """Prints a permanent line."""
        self.clear()
        print(text, file=self.out, flush=True)

    def clear(self):
        if self.width:
            print("\r" + " " * self.width + "\r", end="", file=self.out, flush=True)
            self.width = 0

    def update(self, text):
        """Shows the current activity."""
        if self.tty:
            print("\r" + text.ljust(self.width), end="", file=self.out, flush=True)
            self.width = len(text)
        elif self.clock() - self.shown >= PLAIN_EVERY:
            self.shown = self.clock()
            print(text, file=self.out, flush=True)
