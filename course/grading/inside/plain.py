"""Turn values into JSON and back: numbers, text, lists and arrays, and nothing that could act."""

import base64

import numpy as np

KINDS = "biufc"  # of arrays: booleans, integers, floats, complex numbers


class NotPlain(TypeError):
    """A value that has no place in a comparison of numbers."""


def encode(value):
    """A plain value as JSON; anything else is refused."""
    if value is None or type(value) in (bool, int, float, str):
        return value
    if isinstance(value, (list, tuple, range)):
        return {"tuple" if isinstance(value, tuple) else "list": [encode(v) for v in value]}
    if isinstance(value, dict):
        return {"dict": [[encode(k), encode(v)] for k, v in value.items()]}
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


def decode(data):
    """The value again: built of Python's own types and NumPy's arrays alone."""
    if data is None or isinstance(data, (bool, int, float, str)):
        return data
    ((kind, content),) = data.items()
    if kind in ("list", "tuple"):
        return {"list": list, "tuple": tuple}[kind](map(decode, content))
    if kind == "dict":
        return {decode(k): decode(v) for k, v in content}
    if kind == "strings":
        return np.array([str(text) for text in content[1]], dtype=str).reshape(content[0])[()]
    if kind != "array" or np.dtype(str(content[0])).kind not in KINDS:
        raise ValueError("not a plain value")
    array = np.frombuffer(base64.b64decode(content[2]), dtype=str(content[0]))
    return array.reshape(content[1]).copy()[()]
