"""Run a submission's code: start a sandbox, send it requests, and watch what it takes.

Time is the CPU time of everything that runs in the sandbox, so a busy machine takes no points.
Whatever is still running at the end is killed with the sandbox.
"""

import contextlib
import json
import subprocess
import sys
import threading
import time

import psutil

from grading.sandbox import INSIDE, bubblewrap, environment

LONGEST_REPLY = 20_000_000  # bytes


class Ended(Exception):
    """The sandbox is gone; the message says why."""


class Sandbox:
    """One run of the student's code. `ask` sends a request and returns the reply."""

    def __init__(self, limits, overlay=(), hidden=()):
        self.limits, self.reason, self.mark, self.allowed = limits, None, 0.0, None
        command = [*bubblewrap(limits, overlay, hidden), sys.executable, str(INSIDE / "desk.py")]
        command.append(json.dumps(vars(limits)))
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
        self.process = subprocess.Popen(command, **pipes, env=environment(), start_new_session=True)
        threading.Thread(target=self.watch, daemon=True).start()

    def ask(self, request, seconds):
        """Send a request and return the reply; Ended says why there is none."""
        self.mark, self.allowed = None, seconds  # the watch goes on, and counts from here
        try:
            message = json.dumps(request | {"seconds": seconds})
            self.process.stdin.write(message.encode() + b"\n")
            self.process.stdin.flush()
            reply = json.loads(self.process.stdout.readline(LONGEST_REPLY))
            if not isinstance(reply, dict):
                raise ValueError
        except (OSError, ValueError, RecursionError, MemoryError) as problem:
            self.close()
            raise Ended(self.reason or "ended the kernel") from problem
        finally:
            self.allowed = None
        return reply

    def watch(self):
        """End the sandbox when it computes, waits, takes or starts more than it may."""
        used, gone, idle, last = 0.0, 0.0, 0.0, time.monotonic()
        while self.process.poll() is None and self.reason is None:
            time.sleep(0.1)
            now, allowed, mark, before = time.monotonic(), self.allowed, self.mark, used
            passed, last = min(now - last, 1), now  # more, and the grading itself was stopped
            seconds, memory, count, waits = measure(self.process.pid)
            gone = max(gone, before - seconds)  # of processes whose parent doesn't count them
            used = seconds + gone
            if allowed is None or mark is None:
                self.mark, mark, idle = used, used, 0.0
            # A second of computing excuses twenty of waiting: a thread may get no more of a busy
            # machine, and a program that only stirs now and then is not at work.
            idle = max(idle + passed * waits - 20 * (used - before), 0)
            self.reason = self.too_much(used - mark, used, idle, memory, count, allowed or 0)
        if self.reason:
            self.process.kill()

    def too_much(self, spent, used, idle, memory, count, allowed):
        limits = self.limits
        if spent > 1.2 * allowed + 1:
            return "could not be interrupted"
        if used > limits.notebook_seconds:
            return "used up the time for the whole notebook"
        if idle > limits.cell_seconds:
            return f"waited for more than {limits.cell_seconds:g} s"
        if memory > 1.2 * limits.memory_bytes:
            return "ran out of memory"
        return "started too many processes" if count > limits.processes + 8 else None

    def close(self):
        """End everything inside; with the first process of a namespace all others go."""
        self.process.kill()
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout):
            with contextlib.suppress(OSError):
                pipe.close()


def measure(pid):
    """Computing seconds, bytes of memory, number, and whether all wait: a process and its tree."""
    seconds, memory, count, waits, tree = 0.0, 0, 0, True, []
    with contextlib.suppress(psutil.Error):
        tree = [psutil.Process(pid), *psutil.Process(pid).children(recursive=True)]
    for process in tree:
        with contextlib.suppress(psutil.Error), process.oneshot():
            times = process.cpu_times()
            seconds += sum(times[:4])
            memory += process.memory_info().rss
            count += 1
            waits &= process.status() != psutil.STATUS_RUNNING  # asleep, stopped, held up
    return seconds, memory, count, waits
