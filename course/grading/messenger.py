"""Stand-ins for the student's functions: arguments go in, plain values come out."""

import builtins

import numpy as np

from grading.inside import plain


class StudentError(Exception):
    """An exception of the student's own making."""


def raised(name, message):
    """The exception that the student's code raised, if it is one of Python's own."""
    kind = getattr(builtins, str(name), None)
    ordinary = isinstance(kind, type) and issubclass(kind, Exception)
    try:
        return kind(str(message)) if ordinary else StudentError(f"{name}: {message}")
    except TypeError:  # UnicodeDecodeError and its like take more than a message
        return StudentError(f"{name}: {message}")


def has_nan(value):
    """Whether anything in a value is not a finite number."""
    if isinstance(value, (list, tuple, set)):
        return any(has_nan(part) for part in value)
    if isinstance(value, dict):
        return any(has_nan(part) for part in value.values())
    return np.asarray(value).dtype.kind in "fc" and not np.all(np.isfinite(value))


class Messenger:
    """Stands for a function of the student's: arguments go in, plain values come out.

    What is odd about them goes into `odd`, for the teacher.
    """

    def __init__(self, sandbox, name, odd, may_change=True):
        self.sandbox, self.__name__, self.odd = sandbox, name, odd
        self.may_change = may_change

    def __call__(self, *args, **kwargs):
        callables = []
        request = {"call": self.__name__, "args": plain.encode(args, callables)}
        request["kwargs"] = plain.encode(kwargs, callables)

        def answer_callback(asked):
            try:
                function = callables[int(asked["callback"])]
                return {"value": plain.encode(function(*plain.decode(asked["args"])))}
            except Exception as problem:
                return {"error": f"{type(problem).__name__}: {problem}"}

        reply = self.sandbox.ask(request, self.sandbox.limits.cell_seconds, answer_callback)
        if "value" not in reply:
            told = reply.get("error")
            raise raised(*told) if isinstance(told, list) and len(told) == 2 else StudentError()
        if reply.get("changed"):
            self.odd.add("changes its arguments")
            if not self.may_change:
                raise AssertionError(f"{self.__name__} changes its arguments.")
        try:
            value = plain.decode(reply["value"])
        except Exception as problem:
            raise StudentError("NotPlain: a value that is not plain") from problem
        if has_nan(value):
            self.odd.add("gave nan or infinity")
        return value
