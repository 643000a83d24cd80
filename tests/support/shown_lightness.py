"""How light a picture is, as a person sees it in the browser."""

from __future__ import annotations

from base64 import b64encode

from playwright.sync_api import Locator

GROUND = """async png => {
  const image = new Image();
  image.src = `data:image/png;base64,${png}`;
  await image.decode();
  const pen = new OffscreenCanvas(image.width, image.height).getContext("2d");
  pen.drawImage(image, 0, 0);
  const { data } = pen.getImageData(0, 0, image.width, image.height);
  const counts = new Array(256).fill(0);
  for (let n = 0; n < data.length; n += 4) counts[Math.round((data[n] + data[n + 1] + data[n + 2]) / 3)] += 1;
  return counts.indexOf(Math.max(...counts));
}"""


def ground(picture: Locator) -> int:
    """The most frequent lightness in a picture as it is shown, 0 to 255."""
    return int(picture.page.evaluate(GROUND, b64encode(picture.screenshot()).decode()))
