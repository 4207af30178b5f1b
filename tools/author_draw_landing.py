"""Draw the landing page's still picture, book/figures/landing.png, from the records.

Usage: python tools/author_draw_landing.py
"""

from pathlib import Path

from slnp_edu.show import use_style
from slnp_study.multiverse import still
from slnp_study.plots import light_png

use_style()
picture = Path(__file__).parent.parent / "book" / "figures" / "landing.png"
picture.write_bytes(light_png(still(), dpi=220))
