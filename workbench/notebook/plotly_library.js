// plotly.js on the page of a notebook: whoever needs a file of it first asks the kernel, and all share it. The text of this
// file comes before plot_view.js or plotly_ahead.js: a widget is one text, which imports nothing.

const SHARED = (globalThis.__workbench ??= { sources: new Map(), turn: Promise.resolve(), drawing: 0 });
SHARED.libraries ??= new Map(); // a page may still have what an older version left
const ASK_AGAIN_MS = 8000;
const ASK_ANOTHER_MS = 1000;

/** A file as it is on the page: `plotly` when it is there, `here` a promise of that. `id` is the view that needs it. */
function library(name, id) {
  if (!SHARED.libraries.has(name)) {
    const file = { plotly: null, asked: -Infinity };
    file.here = new Promise((arrived) => { file.arrived = arrived; });
    SHARED.libraries.set(name, file);
  }
  const file = SHARED.libraries.get(name);
  // Views of a kernel that was restarted stay on the page and never answer: a view that needs a file asks for itself.
  if (!file.plotly && !file.unpacking && performance.now() - file.asked > ASK_ANOTHER_MS) ask(name, file, id);
  return file;
}

function ask(name, file, first) {
  // The widget may be closed before it answers. After a while, the next widget is asked.
  clearTimeout(file.timer);
  file.timer = setTimeout(ask, ASK_AGAIN_MS, name, file);
  const waiting = [...SHARED.sources].sort(([one, a], [two, b]) => (two === first) - (one === first) || a.asked - b.asked);
  for (const [id, source] of waiting) {
    source.asked = file.asked = performance.now();
    try {
      return source.model.send({ kind: "plotly", name });
    } catch {
      SHARED.sources.delete(id); // its kernel is gone
    }
  }
}

async function unpack(name, packed) {
  const file = SHARED.libraries.get(name);
  if (!file || file.unpacking) return;
  clearTimeout(file.timer);
  file.unpacking = true;
  const page = globalThis.Plotly;
  let address = "";
  try {
    const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
    const source = await new Response(stream).text();
    const parts = ["const module = { exports: {} };\n", source, "\nexport default module.exports;"];
    address = URL.createObjectURL(new Blob(parts, { type: "text/javascript" }));
    file.plotly = (await import(address)).default;
    file.arrived();
  } catch (error) {
    file.unpacking = false; // the next view asks again
    throw error;
  } finally {
    URL.revokeObjectURL(address);
    if (page) globalThis.Plotly = page; // whoever else brought one keeps it
  }
}
