"""How the chapters show things: code, figures, tables."""

import slnp_edu.data.needs  # noqa: F401  first: it says what to install if something is missing
from slnp_edu.book.display import (
    CLASS_COLOURS,
    CLASS_MARKERS,
    COLOURS,
    METHOD_COLOURS,
    light_png,
    live,
    show_source,
    use_style,
)
from slnp_edu.book.plots import (
    beside_paper,
    contact_sheet,
    draw_real_figures,
    forest,
    image_grid,
    specification_curves,
    verdict_grid,
)
from slnp_edu.book.tables import Ruling, against_paper, claims_table, differences_table

__all__ = [
    "CLASS_COLOURS",
    "CLASS_MARKERS",
    "COLOURS",
    "METHOD_COLOURS",
    "Ruling",
    "against_paper",
    "beside_paper",
    "claims_table",
    "contact_sheet",
    "differences_table",
    "draw_real_figures",
    "forest",
    "image_grid",
    "light_png",
    "live",
    "show_source",
    "specification_curves",
    "use_style",
    "verdict_grid",
]
