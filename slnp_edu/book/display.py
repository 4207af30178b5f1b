"""How the chapters show things: source code, one look for all figures, pictures with a slider."""

import ast
import base64
import html
import inspect
import io
import json
import textwrap
from collections.abc import Callable, Sequence
from typing import Any

import matplotlib.pyplot as plt
from IPython.display import HTML, Markdown
from matplotlib.rcsetup import cycler
from PIL import Image

#: Okabe and Ito's palette: tells apart for colour-blind readers, and in grey print.
COLOURS = {
    "black": "#000000",
    "orange": "#E69F00",
    "sky": "#56B4E9",
    "green": "#009E73",
    "yellow": "#F0E442",
    "blue": "#0072B2",
    "red": "#D55E00",
    "pink": "#CC79A7",
}
#: One colour and one marker per class, in this order.
CLASS_COLOURS = [COLOURS[name] for name in ("blue", "red", "green", "pink", "orange", "sky")]
CLASS_MARKERS = ["o", "^", "s", "D", "v", "P"]
#: One colour per method in every chapter; none of them is a colour of the first two classes.
METHOD_COLOURS = {
    "PCA": "#888888",
    "LPP": COLOURS["yellow"],
    "LDA": COLOURS["black"],
    "LFDA": COLOURS["green"],
    "MFA": COLOURS["orange"],
    "LSDA": COLOURS["sky"],
    "SLNP": COLOURS["pink"],
}


def use_style() -> None:
    """Give matplotlib the look of the book."""
    plt.rcdefaults()
    plt.rcParams.update(
        {
            "figure.figsize": (6.4, 3.6),
            "figure.dpi": 110,
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
    """Show the code of functions as it stands in the module, without the docstrings."""
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


# The controls appear only where scripts run, and not on paper; the still picture is always there.
SCRUBBER = """<figure class="scrubber" id="{name}" style="margin: 0">
<style>@media print {{ .scrubber-controls {{ display: none !important; }} }}</style>
<img src="{still}" alt="{alt}" style="max-width: 100%">
<div class="scrubber-controls" role="group" aria-label="{label}" hidden>
<button type="button" style="min-width: 4.5em; min-height: 2em">Play</button>
<input type="range" min="0" max="{last}" value="{start}" aria-label="{label}" autocomplete="off"
 style="flex: 1 1 10em; min-height: 2em">
<output style="flex: 0 1 auto; min-width: 9em">{caption}</output>
</div>
<script>
(function () {{
  const root = document.getElementById("{name}"), frames = {frames}, captions = {captions};
  const img = root.querySelector("img"), slider = root.querySelector("input");
  const output = root.querySelector("output"), button = root.querySelector("button");
  const controls = root.querySelector(".scrubber-controls");
  let timer = null;
  function show() {{
    img.src = frames[slider.value];
    output.textContent = captions[slider.value];
    slider.setAttribute("aria-valuetext", captions[slider.value]);
  }}
  function stop() {{
    clearInterval(timer); timer = null; button.textContent = "Play"; output.ariaLive = "polite";
  }}
  slider.addEventListener("input", function () {{ stop(); show(); }});
  button.addEventListener("click", function () {{
    if (timer) return stop();
    button.textContent = "Pause";
    output.ariaLive = "off";  // a screen reader need not read out every picture while it plays
    timer = setInterval(function () {{
      slider.value = (Number(slider.value) + 1) % frames.length; show();
    }}, {interval});
  }});
  controls.hidden = false;
  controls.style.cssText =
    "display: flex; flex-wrap: wrap; gap: 0.3em 0.7em; align-items: center; max-width: 36em";
  show();
}})();
</script>
</figure>"""


def scrubber(
    draw: Callable[[Any], Any],
    values: Sequence[Any],
    *,
    name: str,
    label: str,
    alt: str,
    caption: Callable[[Any], str] = str,
    start: int = 0,
    interval: int = 400,
) -> HTML:
    """One picture per value with a slider under it; needs no server and no network.

    Parameters
    ----------
    draw : callable
        ``draw(value)`` draws the picture and returns its Figure.
    values : sequence
    name : str
        The HTML id, unique in the book.
    label : str
        What the slider changes.
    alt : str
        What there is to see, for those who do not see it.
    caption : callable
        The text beside the slider for a value.
    start : int
        Number of the picture shown first, and alone where scripts are off.
    interval : int
        Milliseconds a picture stays when playing.
    """
    pictures = [light_png(draw(value), bbox_inches=None) for value in values]
    frames = ["data:image/png;base64," + base64.b64encode(png).decode() for png in pictures]
    captions = [caption(value) for value in values]
    return HTML(
        SCRUBBER.format(
            name=name,
            still=frames[start],
            alt=html.escape(alt, quote=True),
            label=html.escape(label, quote=True),
            caption=html.escape(captions[start]),
            last=len(frames) - 1,
            start=start,
            frames=json.dumps(frames),
            captions=json.dumps(captions),
            interval=interval,
        )
    )


def light_png(figure: Any, **options: Any) -> bytes:
    """Close the figure and return it as a PNG file of 64 colours, which keeps a page light."""
    raw, small = io.BytesIO(), io.BytesIO()
    figure.savefig(raw, format="png", **options)
    plt.close(figure)
    image = Image.open(raw).convert("RGB").quantize(64, dither=Image.Dither.NONE)
    image.save(small, format="png", optimize=True)
    return small.getvalue()
