// A FigureWidget updates its width only when the window changes, so this sends that event when the cell changes.

function render({ el }) {
  el.style.display = "none";
  let width = 0;
  const sizes = new ResizeObserver(([entry]) => {
    if (Math.round(entry.contentRect.width) === width) return;
    width = Math.round(entry.contentRect.width);
    window.dispatchEvent(new Event("resize"));
  });
  const frame = requestAnimationFrame(() => { if (el.parentElement) sizes.observe(el.parentElement.parentElement ?? el.parentElement); });
  return () => { cancelAnimationFrame(frame); sizes.disconnect(); };
}

export default { render };
