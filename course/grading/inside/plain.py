"""Values as JSON: numbers, text, lists and arrays, and nothing that could run or pretend."""

import base64

import numpy as np

KINDS = "biufc"  # of arrays: booleans, integers, floats, complex numbers


class NotPlain(TypeError):
    """A value that has no place in a comparison of numbers."""


def encode(value, callables=None):
    """A plain value as JSON; functions only where a list takes them, and only as numbers."""
    if value is None or type(value) in (bool, int, float, str):
        return value

    def inner(part):
        return encode(part, callables)

    if isinstance(value, (list, tuple, range)):
        return {"tuple" if isinstance(value, tuple) else "list": [inner(v) for v in value]}
    if isinstance(value, dict):
        return {"dict": [[inner(k), inner(v)] for k, v in value.items()]}
    if callables is not None and callable(value):
        callables.append(value)
        return {"callable": len(callables) - 1}
    if hasattr(value, "toarray"):  # sparse
        value = value.toarray()
    array = np.asarray(value)
    if array.dtype.kind in "US":
        return {"strings": [list(array.shape), [str(text) for text in array.ravel()]]}
    if array.dtype.kind not in KINDS:
        raise NotPlain(f"a {type(value).__name__} where numbers or arrays are asked for")
    array = array.astype(array.dtype.newbyteorder("<"))
    data = base64.b64encode(array.tobytes()).decode()
    return {"array": [array.dtype.str, list(array.shape), data]}


def decode(data, make_callable=None):
    """The value again: built of Python's own types and NumPy's arrays alone."""
    if data is None or isinstance(data, (bool, int, float, str)):
        return data
    ((kind, content),) = data.items()

    def inner(part):
        return decode(part, make_callable)

    if kind in ("list", "tuple"):
        return {"list": list, "tuple": tuple}[kind](inner(part) for part in content)
    if kind == "dict":
        return {inner(k): inner(v) for k, v in content}
    if kind == "strings":
        return np.array([str(text) for text in content[1]], dtype=str).reshape(content[0])[()]
    if kind == "callable" and make_callable is not None:
        return make_callable(int(content))
    if kind != "array" or np.dtype(str(content[0])).kind not in KINDS:
        raise ValueError("not a plain value")
    array = np.frombuffer(base64.b64decode(content[2]), dtype=str(content[0]))
    return array.reshape(content[1]).copy()[()]
