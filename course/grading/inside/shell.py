"""IPython without a network: cells run as in a notebook, and their outputs are collected."""

import io
import sys
import types

from IPython.core.displayhook import DisplayHook
from IPython.core.displaypub import DisplayPublisher
from IPython.core.interactiveshell import InteractiveShell


class TookTooLong(BaseException):
    """Not an Exception, so that `except Exception` in a loop does not catch it."""


class TooMuchOutput(BaseException):
    pass


class Stream(io.TextIOBase):
    encoding = "utf-8"

    def __init__(self, name, outputs):
        self.name, self.outputs = name, outputs

    def writable(self):
        return True

    def isatty(self):
        return False

    def write(self, text):
        if not text:
            return 0
        self.outputs.count(len(text))
        last = self.outputs.collected[-1] if self.outputs.collected else {}
        if last.get("name") == self.name:
            last["parts"].append(text)
        else:
            part = {"output_type": "stream", "name": self.name, "parts": [text]}
            self.outputs.collected.append(part)
        return len(text)


class Outputs:
    """What a cell prints and shows, up to a bound."""

    def __init__(self, most):
        self.most, self.collected, self.size = most, [], 0

    def clear(self):
        self.collected, self.size = [], 0

    def count(self, size):
        self.size += size
        if self.size > self.most:
            raise TooMuchOutput("Stopped: too much output.")

    def add(self, kind, **content):
        self.count(len(str(content)))
        self.collected.append({"output_type": kind, **content})

    def __enter__(self):
        self.kept = sys.stdin, sys.stdout, sys.stderr
        sys.stdin = io.StringIO()  # nobody answers input()
        sys.stdout, sys.stderr = Stream("stdout", self), Stream("stderr", self)

    def __exit__(self, *_):
        sys.stdin, sys.stdout, sys.stderr = self.kept
        for output in self.collected:
            if "parts" in output:
                output["text"] = "".join(output.pop("parts"))


def shell_for(outputs):
    class Publisher(DisplayPublisher):
        def publish(self, data, metadata=None, **_):
            outputs.add("display_data", data=dict(data), metadata={})

        def clear_output(self, wait=False):
            outputs.collected.clear()

    class Hook(DisplayHook):
        def write_output_prompt(self):
            pass

        def write_format_data(self, format_dict, md_dict=None):
            outputs.add("execute_result", data=dict(format_dict), metadata={}, execution_count=None)

    class Shell(InteractiveShell):
        def enable_gui(self, gui=None):
            pass

        def ask_exit(self):
            raise SystemExit

        def _showtraceback(self, etype, evalue, stb):
            outputs.size = 0  # an error is always shown
            outputs.add(
                "error",
                ename=etype.__name__,
                evalue=str(evalue)[:5000],
                traceback=[line[:20_000] for line in stb[-20:]],
            )

    shell = Shell.instance(
        user_module=types.ModuleType("__main__"),
        display_pub_class=Publisher,
        displayhook_class=Hook,
        colors="nocolor",
    )
    shell.history_manager.enabled = False
    sys.modules["__main__"] = shell.user_module
    return shell
