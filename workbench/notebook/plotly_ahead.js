// Brings plotly.js to the page of a notebook before a plot needs it. The text of plotly_library.js comes before this one.

function initialize({ model }) {
  const id = Math.random().toString(36).slice(2);
  model.on("msg:custom", (content, buffers) => { if (content.kind === "plotly") unpack(content.name, buffers[0]); });
  SHARED.sources.set(id, { model, asked: 0 });
  library("small", id).here.then(() => {
    SHARED.sources.delete(id);
    try {
      model.send({ kind: "there" });
    } catch {
      // The kernel is gone, and its model with it.
    }
  });
  return () => SHARED.sources.delete(id);
}

export default { initialize };
