// Stops keys that are typed in a control before they reach the notebook, where "d" twice deletes the cell.

const TYPED_IN = "select, input, textarea, button, summary, [role=slider], [contenteditable], [tabindex]";

function guard(event) {
  const command = event.ctrlKey || event.metaKey || event.altKey || (event.shiftKey && event.key === "Enter");
  if (!command && event.target.closest?.(TYPED_IN)) event.stopPropagation();
}

function render({ el }) {
  el.style.display = "none";
  let host = null;
  const frame = requestAnimationFrame(() => {
    host = el.closest(".jp-OutputArea-output, .output_area, .cell-output") ?? el.parentElement;
    host?.addEventListener("keydown", guard);
  });
  return () => {
    cancelAnimationFrame(frame);
    host?.removeEventListener("keydown", guard);
  };
}

export default { render };
