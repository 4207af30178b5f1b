"""How the chapters show things: source code, one look for all figures, and live figures."""

import ast
import html
import inspect
import json
import textwrap
from collections.abc import Callable
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from IPython.display import HTML, Markdown
from matplotlib.rcsetup import cycler

#: Okabe and Ito's palette: can be told apart by colour-blind readers, and in grey print.
COLOURS = {
    "black": "#000000",
    "orange": "#E69F00",
    "sky": "#56B4E9",
    "green": "#009E73",
    "blue": "#0072B2",
    "red": "#D55E00",
    "pink": "#CC79A7",
}
#: One colour and one marker per class, in this order.
CLASS_COLOURS = [COLOURS[name] for name in ("blue", "red", "green", "pink", "orange", "sky")]
CLASS_MARKERS = ["o", "^", "s", "D", "v", "P"]
#: One colour per method in every chapter. None of them is a colour of the first two classes.
METHOD_COLOURS = {
    "PCA": "#888888",
    "LPP": "#997700",  # the palette's own yellow can't be seen on white
    "LDA": COLOURS["black"],
    "LFDA": COLOURS["green"],
    "MFA": COLOURS["orange"],
    "LSDA": COLOURS["sky"],
    "SLNP": COLOURS["pink"],
}
#: One colour per rule for gamma in every chapter. The paper's is SLNP's.
RULE_COLOURS = {
    "paper": METHOD_COLOURS["SLNP"],
    "can": COLOURS["orange"],
    "fixed": COLOURS["green"],
}


def use_style() -> None:
    """Give matplotlib the look of the book."""
    plt.rcdefaults()
    plt.rcParams.update(
        {
            "figure.figsize": (6.4, 3.6),
            "figure.dpi": 220,  # an inch is 110 px wide on the page: sharp on dense screens
            "savefig.bbox": "tight",
            "savefig.facecolor": "white",  # legible in dark mode
            "axes.prop_cycle": cycler(color=CLASS_COLOURS),
            "axes.spines.top": False,
            "axes.spines.right": False,
            "axes.titlesize": "medium",
            "font.size": 10,
            "legend.frameon": False,
            "image.cmap": "viridis",
        }
    )


def show_source(*functions: Callable[..., Any]) -> Markdown:
    """Show the code of functions as it is in the module, without the docstrings."""
    return Markdown("\n".join(f"```python\n{_code(function)}```" for function in functions))


def _code(function: Callable[..., Any]) -> str:
    source = textwrap.dedent(inspect.getsource(function))
    definition = ast.parse(source).body[0]
    assert isinstance(definition, ast.FunctionDef | ast.ClassDef)
    lines = source.splitlines(keepends=True)
    first = definition.body[0]
    if ast.get_docstring(definition) is not None:
        del lines[first.lineno - 1 : first.end_lineno]
    return "".join(lines).rstrip() + "\n"


def live(figure: str, **given: Any) -> HTML:
    """Insert a live figure: the place where one of the book's scripts draws it, and its data.

    The cell that calls this draws a still picture first. It's what is seen in a notebook, on paper
    and wherever scripts are off. In the book the script hides it when the live figure is there.

    Parameters
    ----------
    figure : str
        Which one: ``book/_static/live-<figure>.js`` draws it.
    given
        Its data: numbers, lists and arrays, written with six decimals.

    Examples
    --------
    >>> print(live("toy", degrees=np.float64(90)).data)
    <div class="live" data-figure="toy" data-given="{&quot;degrees&quot;: 90.0}"></div>
    """
    data = html.escape(json.dumps({name: _plain(value) for name, value in given.items()}))
    return HTML(f'<div class="live" data-figure="{figure}" data-given="{data}"></div>')


def _plain(value: Any) -> Any:
    """In a form JSON can hold. Rounded, so that every processor writes the same."""
    value = value.tolist() if isinstance(value, np.ndarray | np.generic) else value
    if isinstance(value, list):
        return [_plain(entry) for entry in value]
    return round(value, 6) + 0.0 if isinstance(value, float) else value
