// The picture for the saved notebook: the drawn SVG as a small image, made when the page is idle. The text of this file
// comes after figure_layout.js, and before plot_view.js or widener.js.

const STILL_AFTER_MS = 4000;
const STILL_WIDTH = 1000;

async function still(gd) {
  const { width, height } = gd.getBoundingClientRect();
  if (!width || !height) return null;
  const scale = Math.min(1, STILL_WIDTH / width);
  const canvas = document.createElement("canvas");
  canvas.width = Math.round(width * scale);
  canvas.height = Math.round(height * scale);
  const pen = canvas.getContext("2d");
  pen.fillStyle = gd._fullLayout.paper_bgcolor;
  pen.fillRect(0, 0, canvas.width, canvas.height);
  const dark = isDarkGround(pen.getImageData(0, 0, 1, 1).data);
  pen.scale(scale, scale);
  for (const layer of gd.querySelectorAll(".gl-canvas, .main-svg")) await drawn(layer, pen, width, height);
  return { picture: canvas.toDataURL("image/webp", 0.8), dark };
}

// The script may have chosen the background. If it did not, the background of the page is visible.
function isDarkGround([red, green, blue, opacity]) {
  return opacity < 128 ? isDark() : 0.2126 * red + 0.7152 * green + 0.0722 * blue < 128;
}

async function drawn(layer, pen, width, height) {
  if (layer.tagName === "CANVAS") return pen.drawImage(layer, 0, 0, width, height);
  const copy = layer.cloneNode(true);
  for (const node of copy.querySelectorAll(".hoverlayer, .zoomlayer, .draglayer, .modebar-container")) node.remove();
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(new XMLSerializer().serializeToString(copy))}`;
  await image.decode();
  return pen.drawImage(image, 0, 0, width, height);
}

// While a plot is live, the picture that the saved notebook shows instead of it is hidden.
function hideStill(id) {
  const style = document.createElement("style");
  style.textContent = `.jp-OutputArea-child:has([data-wb-still="${id}"]) { display: none; }`;
  document.head.append(style);
  return () => style.remove();
}
