"""The student's desk: one process, inside the sandbox, that runs cells and answers calls.

Usage: python desk.py SETTINGS, with SETTINGS as JSON (memory_bytes, cpu_seconds, processes,
output_bytes). Requests come on the standard input and replies go to the standard output, a line
of JSON each:
  {"run": source, "seconds": s}                       -> {"outputs": [...], "error": name or null}
  {"call": name, "args": ..., "kwargs": ..., "seconds": s} -> {"value": ..., "changed": bool}
                                                          or {"error": [name, message]}
While it answers a call it may ask back: {"callback": n, "args": ...} -> {"value": ...}.
The student's code shares this process. Whoever asks must not believe more than the values.
"""

import base64
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
        resource.RLIMIT_CPU: settings["cpu_seconds"],
        resource.RLIMIT_NPROC: settings["processes"],
        resource.RLIMIT_FSIZE: settings["file_bytes"],
        resource.RLIMIT_CORE: 0,
    }
    for what, value in limits.items():
        with contextlib.suppress(ValueError, OSError):  # what the system does not let us lower
            hard = resource.getrlimit(what)[1]
            value = value if hard == resource.RLIM_INFINITY else min(value, hard)
            resource.setrlimit(what, (value, value))


def main():
    settings = json.loads(sys.argv[1])
    set_limits(settings)
    os.makedirs(os.environ["TMPDIR"], exist_ok=True)
    requests, replies = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    null = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1, 2):
        os.dup2(null, number)

    import plain
    from shell import Outputs, TookTooLong, shell_for

    outputs = Outputs(settings["output_bytes"])
    shell = shell_for(outputs)
    del sys.argv[1:]
    sys.path[:] = [*sys.path[1:], ""]  # what is installed comes before the notebook's own folder

    def send(reply):
        replies.write(json.dumps(reply).encode() + b"\n")
        replies.flush()

    def receive():
        line = requests.readline()
        if not line:
            os._exit(0)
        return json.loads(line)

    def run(request):
        result = shell.run_cell(request["run"], store_history=True)
        problem = result.error_before_exec or result.error_in_exec
        return {"error": type(problem).__name__ if problem is not None else None}

    def ask_back(number):
        def function(*args):
            send({"callback": number, "args": plain.encode(args)})
            answer = receive()
            if "error" in answer:
                raise ValueError(answer["error"])
            return plain.decode(answer["value"])

        return function

    def call(request):
        args = plain.decode(request["args"], ask_back)
        kwargs = plain.decode(request["kwargs"], ask_back)
        if request["call"] not in shell.user_ns:
            raise NameError(f"name '{request['call']}' is not defined")
        before = [plain.encode(arg, []) for arg in args]
        value = plain.encode(shell.user_ns[request["call"]](*args, **kwargs))
        after = [plain.encode(arg, []) for arg in args]
        return {"value": value, "changed": after != before}

    def too_long(number, frame):
        raise TookTooLong("The cell took too long.")

    while True:
        request = receive()
        outputs.clear()
        signal.signal(signal.SIGPROF, too_long)
        try:
            with outputs:
                try:
                    # Seconds of computing, not of waiting: a busy machine takes no points.
                    signal.setitimer(signal.ITIMER_PROF, request["seconds"])
                    reply = run(request) if "run" in request else call(request)
                finally:
                    signal.setitimer(signal.ITIMER_PROF, 0)
        except BaseException as problem:
            reply = {"error": [type(problem).__name__, str(problem)[:5000]]}
        if "run" in request:
            error = reply["error"]
            reply["error"] = error if error is None or isinstance(error, str) else error[0]
            reply["outputs"] = [
                {k: encoded(v) for k, v in output.items()} for output in outputs.collected
            ]
        try:
            send(reply)
        except MemoryError:
            os._exit(1)


def encoded(value):
    """Pictures come as bytes; the notebook format has them as text."""
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    return {k: encoded(v) for k, v in value.items()} if isinstance(value, dict) else value


if __name__ == "__main__":
    main()
