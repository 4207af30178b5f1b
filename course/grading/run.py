"""One submission's code at work: the narrow channel to it, and the watch over what it takes.

Time is counted as computing time of everything that runs in the sandbox, so a busy machine takes
no points. Whatever is left at the end goes with the sandbox.
"""

import contextlib
import json
import platform
import re
import subprocess
import sys
import tempfile
import threading
import time

import psutil

from grading.sandbox import INSIDE, bubblewrap, container, end_container, environment

LONGEST_REPLY = 20_000_000  # bytes


def counts_per_namespace():
    """Whether a bound on processes leaves out those of the same user outside the sandbox."""
    major, minor = (int(re.match(r"\d+", part)[0]) for part in platform.release().split(".")[:2])
    return (major, minor) >= (5, 14)


class Ended(Exception):
    """The sandbox is gone; the message says why."""


class NoSandbox(Exception):
    """The sandbox did not even start; the message says why."""


class Sandbox:
    """One run of the student's code. `ask` sends a request and returns the reply."""

    def __init__(self, kind, limits, hidden=(), name="run"):
        self.name = name
        self.limits, self.kind, self.contained = limits, kind, kind in ("podman", "docker")
        self.folder = tempfile.TemporaryDirectory(prefix="run-", ignore_cleanup_errors=True)
        home = "/home/student"
        if kind == "bubblewrap":
            command = bubblewrap(limits, hidden)
        elif kind == "none":
            command, home = [sys.executable, str(INSIDE / "desk.py")], self.folder.name
        else:
            command = container(kind, name, limits)
        settings = {name: getattr(limits, name) for name in ("memory_bytes", "processes")}
        settings |= {"file_bytes": limits.file_bytes, "output_bytes": limits.output_bytes}
        settings["cpu_seconds"] = int(limits.notebook_seconds) + 1
        if kind == "none" or not counts_per_namespace():
            settings["processes"] = 1_000_000  # the watch alone counts
        self.command = [*command, json.dumps(settings)]
        self.variables = None if self.contained else environment(home)
        self.process = subprocess.Popen(
            self.command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=self.folder.name,
            env=self.variables,
            start_new_session=True,
        )
        self.reason, self.mark, self.allowed = None, 0.0, None
        threading.Thread(target=self.watch, daemon=True).start()

    def greet(self):
        """Make sure that the sandbox is there: if it is not, that is no fault of a student's."""
        try:
            self.ask({"run": ""}, self.limits.cell_seconds)
        except Ended as reason:
            said = f"the sandbox ({self.kind}) does not start: {self.reason or self.complaint()}"
            raise NoSandbox(said) from reason

    def complaint(self):
        """What the tool says when it is started once more, with its errors kept."""
        try:
            place = {"cwd": tempfile.gettempdir(), "env": self.variables}
            done = subprocess.run(self.command, input=b"", capture_output=True, timeout=20, **place)
        except (OSError, subprocess.SubprocessError) as problem:
            return str(problem)
        return (done.stderr.decode(errors="replace").strip() or "it says nothing").splitlines()[-1]

    def ask(self, request, seconds, answer_callback=None):
        """Send a request; serve what is asked back; return the reply. Ended says why not."""
        self.mark = None  # what it computes is counted from here
        reply = self.exchange(request | {"seconds": seconds}, seconds)
        while "callback" in reply and answer_callback is not None:
            reply = self.exchange(answer_callback(reply), seconds)
        return reply

    def exchange(self, message, seconds):
        self.allowed = seconds  # the watch goes on
        try:
            self.process.stdin.write(json.dumps(message).encode() + b"\n")
            self.process.stdin.flush()
            line = self.process.stdout.readline(LONGEST_REPLY)
            reply = json.loads(line)
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
        used, idle, waited, last = 0.0, 0.0, 0.0, time.monotonic()
        while self.process.poll() is None and self.reason is None:
            time.sleep(0.1)
            now, allowed = time.monotonic(), self.allowed
            passed, last = min(now - last, 1), now  # more, and the grading itself was stopped
            if allowed is None:
                continue
            before = used
            if self.contained:  # its processes are not ours to see: a tenth of the clock counts
                used, memory, count, waits = used + passed / 10, 0, 0, False
            else:
                used, memory, count, waits = measure(self.process.pid)
            # A second of computing excuses twenty of waiting: a thread may get no more of a busy
            # machine, and a program that only stirs now and then is not at work.
            pause = passed if waits else 0.0
            idle, waited = max(idle + pause - 20 * (used - before), 0), waited + pause
            if self.mark is None:
                self.mark, idle = used, 0.0
            if used - self.mark > 1.2 * allowed + 1:
                self.reason = "could not be interrupted"
            elif used > self.limits.notebook_seconds and not self.contained:
                self.reason = "used up the time for the whole notebook"
            elif idle > self.limits.idle_seconds:
                self.reason = f"waited for more than {self.limits.idle_seconds:g} s"
            elif waited > 10 * self.limits.idle_seconds + 20 * used:
                self.reason = "waited too often"
            elif memory > 1.2 * self.limits.memory_bytes:
                self.reason = "ran out of memory"
            elif count > self.limits.processes:
                self.reason = "started too many processes"
        if self.reason:
            self.process.kill()

    def close(self):
        """End everything inside; with the first process of a namespace all others go."""
        below = []
        end_container(self.kind, self.name)
        if self.kind == "none":
            with contextlib.suppress(psutil.Error):
                below = psutil.Process(self.process.pid).children(recursive=True)
        for process in [*below, self.process]:
            with contextlib.suppress(psutil.Error, OSError):
                process.kill()
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout):
            with contextlib.suppress(OSError):
                pipe.close()
        self.folder.cleanup()


def measure(pid):
    """Computing seconds, bytes of memory, number, and whether all wait: a process and its tree."""
    seconds, memory, count, waits = 0.0, 0, 0, True
    try:
        first = psutil.Process(pid)
        tree = [first, *first.children(recursive=True)]
    except psutil.Error:
        return 0.0, 0, 0, True
    for process in tree:
        with contextlib.suppress(psutil.Error), process.oneshot():
            times = process.cpu_times()
            seconds += sum(times[:4])
            memory += process.memory_info().rss
            count += 1
            waits &= process.status() != psutil.STATUS_RUNNING  # asleep, stopped, held up
    return seconds, memory, count, waits
