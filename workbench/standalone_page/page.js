// A page of figures whose view controls work without a kernel: each combination of choices has its figure in the page.

const PART = "@part";
const CONFIG = JSON.parse(document.getElementById("config").textContent);

async function unpacked() {
  const bytes = Uint8Array.from(atob(document.getElementById("packed").textContent), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return JSON.parse(await new Response(stream).text());
}

// A part refers only to parts before it. Each figure gets objects of its own: plotly writes into them.
function restored(value, parts) {
  if (Array.isArray(value)) return value.map((item) => restored(item, parts));
  if (value === null || typeof value !== "object") return value;
  if (PART in value) return restored(parts[value[PART]], parts);
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, restored(item, parts)]));
}

function made(tag, parent, text) {
  const node = document.createElement(tag);
  if (text !== undefined) node.textContent = text;
  parent.append(node);
  return node;
}

// A control for one param; `turned` gets the place of the chosen value.
function control(param, id, parent, turned) {
  const box = made("div", parent);
  box.className = "control";
  const label = made("label", box, param.label);
  label.htmlFor = id;
  if (param.slider) {
    const input = made("input", box);
    Object.assign(input, { id, type: "range", min: 0, max: param.labels.length - 1, step: 1, value: param.first });
    const shown = made("output", box, param.labels[param.first]);
    const say = () => {
      shown.textContent = param.labels[input.value];
      input.setAttribute("aria-valuetext", param.labels[input.value]);
      turned(Number(input.value));
    };
    input.setAttribute("aria-valuetext", param.labels[param.first]);
    input.addEventListener("input", say);
    return;
  }
  const select = made("select", box);
  select.id = id;
  param.labels.forEach((text, place) => { made("option", select, text).value = place; });
  select.value = param.first;
  select.addEventListener("change", () => turned(Number(select.value)));
}

function show(plot, number, parts) {
  const section = document.getElementById(`plot-${number}`);
  const [figure, notes] = [section.querySelector(".figure"), section.querySelector(".notes")];
  const places = plot.turning.map((one) => one.first);
  let drawing = Promise.resolve();
  let wanted = 0;
  const draw = () => {
    const turn = (wanted += 1);
    const place = places.reduce((sum, at, n) => sum * plot.turning[n].labels.length + at, 0);
    const shown = restored(plot.figures[place], parts);
    drawing = drawing.then(async () => {
      if (turn !== wanted) return; // a newer choice is waiting
      notes.replaceChildren();
      for (const text of shown.notes) made("li", notes, text);
      section.dataset.problem = shown.problem ? "yes" : "no";
      if (shown.problem) made("li", notes, shown.problem).className = "problem";
      if (shown.figure) {
        figure.style.height = shown.figure.layout?.height ? `${shown.figure.layout.height}px` : "";
        await Plotly.react(figure, { ...shown.figure, config: CONFIG });
        await fitNotes(figure);
      }
      section.dataset.shown = place;
    }).catch((error) => { // the other plots are shown, and so is the next choice
      section.dataset.problem = "yes";
      made("li", notes, `The browser cannot draw this figure: ${error.message}`).className = "problem";
    });
  };
  plot.turning.forEach((one, n) => {
    control(one, `plot-${number}-${one.name}`, section.querySelector(".controls"), (at) => { places[n] = at; draw(); });
  });
  draw();
  return drawing;
}

// In the frame of another page, which gives the frame the height of its content. A frame out of sight has no resize events.
const framed = parent !== window;
const told = () => parent.postMessage({ height: document.body.getBoundingClientRect().height + 48 }, "*");
if (framed) new ResizeObserver(told).observe(document.body);

unpacked().then(async ({ parts, content }) => {
  await Promise.all(content.map((plot, number) => show(plot, number, parts)));
  document.body.dataset.ready = "yes";
  if (framed) told();
}).catch((error) => {
  made("p", document.body, `This page cannot be shown by this browser: ${error.message}. Open it in a newer one.`);
});
addEventListener("beforeprint", () => { for (const node of document.querySelectorAll(".figure")) if (node._fullLayout) Plotly.Plots.resize(node); });
