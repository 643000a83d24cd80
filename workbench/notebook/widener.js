// A FigureWidget updates its width only when the window changes, so this sends that event when the cell changes. It keeps
// a picture of the figure for the saved notebook, if the kernel wants one: figure_layout.js and still_picture.js come
// before this file.

function widened(el) {
  let width = 0;
  const sizes = new ResizeObserver(([entry]) => {
    if (Math.round(entry.contentRect.width) === width) return;
    width = Math.round(entry.contentRect.width);
    window.dispatchEvent(new Event("resize"));
  });
  const frame = requestAnimationFrame(() => { if (el.parentElement) sizes.observe(el.parentElement.parentElement ?? el.parentElement); });
  return () => { cancelAnimationFrame(frame); sizes.disconnect(); };
}

function pictured(el, model) {
  let timer, gd;
  const send = async () => {
    if (document.hidden || !gd.isConnected) return;
    const made = await still(gd).catch(() => null);
    if (made && gd.isConnected) model.send(made);
  };
  const soon = () => {
    clearTimeout(timer);
    timer = setTimeout(() => requestIdleCallback(send), STILL_AFTER_MS);
  };
  const look = () => {
    // The figure comes after this widget, and plotly gives it its events when it first draws it.
    const found = el.closest(".widget-vbox, .jupyter-widget-vbox")?.querySelector(".js-plotly-plot");
    if (!found?.on || found === gd) return;
    gd = found;
    gd.on("plotly_afterplot", soon);
    soon();
  };
  const coming = setInterval(look, 1000);
  const shown = hideStill(model.get("still"));
  return () => { clearInterval(coming); clearTimeout(timer); shown(); };
}

function render({ el, model }) {
  el.style.display = "none";
  const stops = [widened(el), ...(model.get("still") ? [pictured(el, model)] : [])];
  return () => stops.forEach((stop) => stop());
}

export default { render };
