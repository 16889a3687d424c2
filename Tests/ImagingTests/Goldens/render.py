#!/usr/bin/python3
"""Renders the goldens again: source pictures under CSS filters, in headless Chromium.

    .build/test-python/bin/python3 Tests/ImagingTests/Goldens/render.py

Needs chromium (Debian's package); the tests do not. Translucent results are read back from two renderings, on black and
on white, so a golden holds what the browser composes on each. What leaves a picture's canvas is clipped.
"""
import pathlib, re, subprocess, tempfile

import numpy as np
from PIL import Image

HERE = pathlib.Path(__file__).resolve().parent
RECIPES = (HERE / "recipes.txt").read_text().split("\n")
SIDE = 48


def sources():
    """A ramp through many colours, the corners of the colour cube included; the second one fades out."""
    y, x = np.mgrid[0:SIDE, 0:SIDE]
    block = (x // 8 + 6 * (y // 8)) % 8
    corners = np.stack([(block >> 2 & 1) * 255, (block >> 1 & 1) * 255, (block & 1) * 255], -1)
    ramp = np.stack([x * 255 // 47, y * 255 // 47, (x * 5 + y * 7) % 256], -1)
    rgb = np.where(((x + y) % 16 < 4)[..., None], corners, ramp).astype("u1")
    alpha = ((x * 3 + y * 2) % 256).astype("u1")
    Image.fromarray(rgb).save(HERE / "opaque.png", optimize=True)
    Image.fromarray(np.dstack([rgb, alpha])).save(HERE / "translucent.png", optimize=True)


def render(page, size):
    with tempfile.TemporaryDirectory() as folder:
        shot, html = pathlib.Path(folder, "shot.png"), pathlib.Path(folder, "page.html")
        html.write_text(page)
        subprocess.run(
            ["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--force-color-profile=srgb", "--hide-scrollbars",
             f"--window-size={size[0]},{size[1] + 200}", f"--screenshot={shot}", f"file://{html}"],
            check=True, stderr=subprocess.DEVNULL)
        return np.asarray(Image.open(shot).convert("RGB"))[:size[1], :size[0]]


def main():
    sources()
    for kind, grounds in {"opaque": ["black"], "translucent": ["black", "white"]}.items():
        for ground in grounds:
            tags = "".join(
                f'<div style="position:absolute;left:0;top:{SIDE * row}px;width:{SIDE}px;height:{SIDE}px;overflow:hidden">'
                f'<img style="display:block;filter:{recipe}" src="{HERE}/{kind}.png"></div>'
                for row, recipe in enumerate(RECIPES) if recipe)
            page = f'<body style="margin:0;background:{ground}">{tags}</body>'
            name = kind if kind == "opaque" else f"{kind}-on-{ground}"
            count = len([recipe for recipe in RECIPES if recipe])
            Image.fromarray(render(page, (SIDE, SIDE * count))).save(HERE / f"{name}-rendered.png", optimize=True)


if __name__ == "__main__":
    main()
