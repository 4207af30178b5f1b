"""Run one notebook within bounds of time, memory and output.

Usage: python bounded.py SETTINGS < notebook.ipynb > executed.ipynb, with SETTINGS as JSON:
cell_seconds, notebook_seconds, memory_bytes, output_bytes and protected (a list of folders).
tools/grade.py starts it in an empty folder, with an environment of its own. What the notebook tries
to open in a protected folder is refused and noted on the standard error stream.

This is no security sandbox. It stops accidents and the usual tricks, not an expert.
"""

import asyncio
import collections
import contextlib
import json
import os
import resource
import secrets
import sys
import time

sys.modules["rfc3987_syntax"] = None  # a format checker that jsonschema can do without: 1 s a start
NOTE = "refused: "
HERE = os.path.abspath(__file__)
SPARE = 500_000_000  # bytes of memory that only the last cells get

# The last cell of every run: each of these must find a difference, or the tests were disarmed.
CONTROL = """
import numpy as np
for check in (np.testing.assert_allclose, np.testing.assert_array_equal, np.testing.assert_equal):
    try:
        check([0.0], [1.0])
    except AssertionError:
        continue
    raise SystemError("a check of NumPy's no longer checks")
for check in (np.allclose, np.array_equal, lambda a, b: np.isclose(a, b).any()):
    if check([0.0], [1.0]):
        raise SystemError("a comparison of NumPy's no longer compares")
raise RuntimeError("TOKEN")
"""


def set_limits(settings):
    for what, value, spare in (
        (resource.RLIMIT_AS, settings["memory_bytes"], SPARE),
        (resource.RLIMIT_FSIZE, 100_000_000, 0),
        (resource.RLIMIT_CPU, 2 * settings["notebook_seconds"] + 60, 0),
        (resource.RLIMIT_CORE, 0, 0),
    ):
        hard = resource.getrlimit(what)[1]
        most = value + spare if hard == resource.RLIM_INFINITY else min(value + spare, hard)
        resource.setrlimit(what, (min(value, most), most))


def give_spare_memory(pid):
    """Let the last cells run where all memory is used up: output that waits to be read fills it."""
    with contextlib.suppress(OSError):  # the kernel may have ended
        hard = resource.prlimit(pid, resource.RLIMIT_AS)[1]
        resource.prlimit(pid, resource.RLIMIT_AS, (hard, hard))


def guard(protected):
    """Refuse, and note, what Python code opens or runs in the protected folders or on the net."""
    stderr = os.dup(2)  # ipykernel takes 2 for the notebook's own output
    realpath, write = os.path.realpath, os.write
    local = ("127.0.0.1", "::1", "localhost", "", None)

    def refuse(what):
        write(stderr, (NOTE + what.replace("\n", " ")[:200] + "\n").encode())
        raise PermissionError(f"Not while grading: {what}")

    def hook(event, args):
        if event in ("os.system", "subprocess.Popen", "os.exec", "os.posix_spawn"):
            if any(folder in str(args) for folder in protected):
                refuse("running a command on the course's own files")
        elif event in ("socket.getaddrinfo", "socket.connect"):
            host = args[0] if event == "socket.getaddrinfo" else args[1][0]
            if host not in local and not (event == "socket.connect" and isinstance(args[1], str)):
                refuse("using the network")
        elif event == "open" or event.startswith(("os.", "shutil.", "glob.", "sqlite3.connect")):
            for arg in args:
                if not isinstance(arg, (str, bytes)):
                    continue
                path = realpath(os.fsdecode(arg).removeprefix("file:"))
                if any(path == folder or path.startswith(folder + "/") for folder in protected):
                    refuse("opening the course's own files")

    sys.addaudithook(hook)


def slow_output():
    """Let a flood of output wait until it is passed on; on a busy machine it filled the memory."""
    from ipykernel.iostream import OutStream

    write, waiting = OutStream.write, collections.Counter()

    def write_and_wait(stream, text):
        written = write(stream, text)
        waiting[stream.name] += written
        if waiting[stream.name] > 100_000:
            waiting[stream.name] = 0
            stream.flush()
        return written

    OutStream.write = write_and_wait


def kernel():
    """Become the notebook's kernel."""
    sys.argv.remove("--kernel")
    with open("settings.json") as file:
        settings = json.load(file)
    os.remove("settings.json")
    guard(settings["protected"])
    slow_output()
    from ipykernel import kernelapp

    kernelapp.launch_new_instance()


def error(name, message):
    from nbformat.v4 import new_output

    return new_output("error", ename=name, evalue=message, traceback=[f"{name}: {message}"])


def execute(notebook, settings):
    """Run a notebook as nbgrader's Execute does, with bounds, and past any end of the kernel."""
    from jupyter_client.manager import AsyncKernelManager
    from nbclient import NotebookClient
    from nbclient.exceptions import CellTimeoutError, DeadKernelError
    from nbformat.v4 import new_code_cell

    class BoundedKernel(AsyncKernelManager):
        def format_kernel_cmd(self, extra_arguments=None):
            with open("settings.json", "w") as file:  # the kernel deletes it before it runs a cell
                json.dump(settings, file)
            start = [sys.executable, HERE, "--kernel", "-f", self.connection_file]
            return [*start, "--HistoryManager.hist_file=:memory:"]

    class BoundedClient(NotebookClient):
        end = time.monotonic() + settings["notebook_seconds"]
        stopped = None  # why no further cell runs

        async def async_execute_cell(self, cell, cell_index, **kwargs):
            if cell.cell_type != "code" or not cell.source.strip():
                return cell
            if cell is controls[0] and hasattr(resource, "prlimit"):  # only Linux has it
                give_spare_memory(self.km.provisioner.pid)
            left = self.end - time.monotonic()
            if self.stopped is None and left < 1:
                self.stopped = "the time for the whole notebook was used up"
            if self.stopped:
                cell.outputs = [error("NotRun", f"Not run, because {self.stopped}.")]
                return cell
            self.timeout = max(1, int(min(settings["cell_seconds"], left)))
            self.written, self.flooded = 0, False
            try:
                await super().async_execute_cell(cell, cell_index, **kwargs)
            except DeadKernelError:
                self.stopped = "an earlier cell ended the kernel"
                message = "This cell ended the kernel (exit, a crash, or too much memory)."
                cell.outputs.append(error("KernelDied", message))
            except CellTimeoutError:  # it did not even give way to an interrupt
                self.stopped = "an earlier cell could not be interrupted"
                cell.outputs.append(error("CellTimeoutError", "It could not be interrupted."))
            if self.flooded:
                cell.outputs.append(error("TooMuchOutput", "Stopped: too much output."))
                await asyncio.sleep(0.5)  # the interrupt must not hit the next cell
            return cell

        def process_message(self, msg, cell, cell_index):
            if msg["msg_type"] in ("stream", "display_data", "execute_result", "error"):
                self.written += len(str(msg["content"]))
                if self.written > settings["output_bytes"]:
                    if not self.flooded:
                        self.flooded = True
                        asyncio.ensure_future(self.km.interrupt_kernel())  # noqa: RUF006
                    return None
            return super().process_message(msg, cell, cell_index)

    def keep_error(cell, cell_index, execute_reply):
        """An error that left no output, such as a timeout, is an error all the same."""
        reply = execute_reply["content"]
        shown = [output.get("ename") for output in cell.outputs]
        if reply["status"] == "error" and reply["ename"] not in shown:
            cell.outputs.append(error(reply["ename"], reply["evalue"]))
        if any(payload.get("source") == "ask_exit" for payload in reply.get("payload", [])):
            cell.outputs.append(error("SystemExit", "The cell called exit()."))

    token = secrets.token_hex(8)
    # Twice, because an interrupt that comes late may still hit the first.
    controls = [new_code_cell(CONTROL.replace("TOKEN", token)) for _ in range(2)]
    notebook.cells += controls
    client = BoundedClient(
        notebook,
        allow_errors=True,
        interrupt_on_timeout=True,
        raise_on_iopub_timeout=True,
        error_on_timeout={"ename": "CellTimeoutError", "evalue": "The cell took too long."},
        skip_cells_with_tag=token,  # no tag of a student's switches a cell off
        on_cell_executed=keep_error,
        kernel_manager_class=BoundedKernel,
        shutdown_kernel="immediate",
        record_timing=False,
    )
    client.execute()
    del notebook.cells[-2:]
    raised = [output.get("evalue") for control in controls for output in control.outputs]
    notebook.metadata.disarmed = client.stopped is None and token not in raised


def main():
    if "--kernel" in sys.argv:
        return kernel()
    settings = json.loads(sys.argv[1])
    set_limits(settings)
    result = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    import nbformat

    notebook = nbformat.reads(sys.stdin.read(), as_version=4)
    execute(notebook, settings)
    result.write(nbformat.writes(notebook))
    result.close()


if __name__ == "__main__":
    main()
