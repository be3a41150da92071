"""A figure that shows itself in a notebook. Importing this needs matplotlib."""

from __future__ import annotations

import io

from matplotlib.figure import Figure


class Picture(Figure):
    """A figure of matplotlib. A notebook shows it as a picture, also one that never imported pyplot."""

    def _repr_png_(self) -> bytes:
        png = io.BytesIO()
        self.savefig(png, format="png")
        return png.getvalue()
