"""The student's desk: one process, inside the sandbox, that runs cells and answers calls.

Usage: python desk.py LIMITS, as JSON. Requests come on the standard input and replies go to the
standard output, a line of JSON each:
  {"run": source, "seconds": s}        -> {"outputs": [...], "error": [name, message] or null}
  {"call": name, "args": ..., "seconds": s}    -> {"value": ...} or {"error": ...}
The student's code shares this process and can change it, so the judge believes nothing but values.
"""

import contextlib
import json
import os
import resource
import signal
import sys


def set_limits(settings):
    """Soft and hard alike, so that no code can raise them again."""
    limits = {
        resource.RLIMIT_AS: settings["memory_bytes"],
        resource.RLIMIT_CPU: int(settings["notebook_seconds"]) + 1,
        resource.RLIMIT_NPROC: settings["processes"],
        resource.RLIMIT_FSIZE: settings["file_bytes"],
        resource.RLIMIT_CORE: 0,
    }
    for what, value in limits.items():
        with contextlib.suppress(ValueError, OSError):  # what the system does not let us lower
            resource.setrlimit(what, (value, value))


class Desk:
    """The two pipes, and what is done with a request."""

    def __init__(self, most):
        self.requests, self.replies = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
        null = os.open(os.devnull, os.O_RDWR)
        for number in (0, 1, 2):
            os.dup2(null, number)
        import plain
        import shell

        self.plain, self.tools, self.most, self.shell = plain, shell, most, shell.make_shell()

    def send(self, reply):
        self.replies.write(json.dumps(reply).encode() + b"\n")
        self.replies.flush()

    def receive(self):
        line = self.requests.readline()
        if not line:
            os._exit(0)
        return json.loads(line)

    def call(self, request):
        args, kwargs = self.plain.decode(request["args"])
        if request["call"] not in self.shell.user_ns:
            raise NameError(f"name '{request['call']}' is not defined")
        function = self.shell.user_ns[request["call"]]
        with open(os.devnull, "w") as null, contextlib.redirect_stdout(null):
            return {"value": self.plain.encode(function(*args, **kwargs))}

    def too_long(self, number, frame):
        raise self.tools.TookTooLong("The cell took too long.")

    def answer(self, request):
        """The reply to a request, whatever the student's code does."""
        signal.signal(signal.SIGPROF, self.too_long)
        try:
            try:
                # Seconds of computing, not of waiting: a busy machine takes no points.
                signal.setitimer(signal.ITIMER_PROF, request["seconds"])
                if "run" in request:
                    return self.tools.run_cell(self.shell, request["run"], self.most)
                return self.call(request)
            finally:
                signal.setitimer(signal.ITIMER_PROF, 0)
        except BaseException as problem:
            return {"error": [type(problem).__name__, str(problem)[:5000]]}


def main():
    settings = json.loads(sys.argv[1])
    set_limits(settings)
    os.makedirs(os.environ["TMPDIR"], exist_ok=True)
    desk = Desk(settings["output_bytes"])
    del sys.argv[1:]
    sys.path[:] = [*sys.path[1:], ""]  # what is installed comes before the notebook's own folder
    while True:
        desk.send(desk.answer(desk.receive()))


if __name__ == "__main__":
    main()
