"""Run cells as a notebook would, with IPython but no kernel, and collect what they show."""

import base64
import sys
import types

from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output


class TookTooLong(BaseException):
    """Not an Exception, so that `except Exception` in a loop does not catch it."""


class Shell(InteractiveShell):
    def enable_gui(self, gui=None):
        pass

    def _showtraceback(self, etype, evalue, stb):
        pass  # the error is in the result


def make_shell():
    shell = Shell.instance(user_module=types.ModuleType("__main__"), colors="nocolor")
    shell.history_manager.enabled = False
    sys.modules["__main__"] = shell.user_module
    return shell


def run_cell(shell, source, most):
    """What a cell shows, up to a bound, and the error it ended with: [name, message] or None."""
    with capture_output() as shown:
        result = shell.run_cell(source, store_history=True)
    problem = result.error_before_exec or result.error_in_exec
    outputs = [{"text": (shown.stdout + shown.stderr)[:most]}]
    for output in shown.outputs:
        data = {kind: encoded(form) for kind, form in output.data.items()}
        outputs += [{"data": data}] if len(str(data)) < most else []
    error = None if problem is None else [type(problem).__name__, str(problem)[:5000]]
    return {"outputs": outputs, "error": error}


def encoded(form):
    """Pictures come as bytes; the notebook format has them as text."""
    return base64.b64encode(form).decode() if isinstance(form, bytes) else str(form)
