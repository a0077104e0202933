"""[3/12] what is being done, about 4 min left."""
import sys
import time


def time_text(seconds):
    """Of what is still to come, as exactly as such a guess is worth."""
    if seconds < 90:
        return f"{max(1, round(seconds))} s"
    return f"{round(seconds / 60)} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def clear_line(stream):
    """Nothing stays of a line of progress; what is no terminal has none."""
    if stream.isatty():
        print("\r\033[K", end="", file=stream, flush=True)


class Progress:
    """One line on stderr that is written over on a terminal; elsewhere a line for each part, or none.

    `total`: how many parts there are, or how much work in all, if parts say how much they are.
    """

    def __init__(self, total, elsewhere=False, stream=None, clock=time.monotonic):
        self.total, self.done, self.current = total, 0, 0
        self.stream = stream or sys.stderr
        self.is_terminal = self.stream.isatty()
        self.is_shown = self.is_terminal or elsewhere
        self.number, self.clock, self.start = 0, clock, clock()

    def begin(self, what, work=1):
        """The part before is over, and this one begins."""
        self.done += self.current
        self.current = work
        self.number += 1
        self._show(f"{self._share()} {what}{self._left()}")

    def end(self):
        """All is over: nothing stays on the line."""
        clear_line(self.stream)

    def _share(self):
        counts = self.total == int(self.total) and self.number + self.total < 100_000 and self.current == 1
        return f"[{self.number}/{self.total}]" if counts else f"[{100 * self.done / self.total:.0f} %]"

    def _left(self):
        if not self.done:
            return ""
        return f", about {time_text((self.clock() - self.start) / self.done * (self.total - self.done))} left"

    def _show(self, line):
        if self.is_shown:
            print(f"\r\033[K{line}" if self.is_terminal else line, end="" if self.is_terminal else "\n", file=self.stream, flush=True)
