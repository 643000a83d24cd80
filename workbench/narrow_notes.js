// The notes above a plot that a narrow window would cut off: they get more lines, and the figure more height.
async function fitNotes(node) {
  const { _size: size, width, height, margin } = node._fullLayout;
  let more = 0;
  const annotations = (node.layout.annotations ?? []).map((note) => {
    const above = note.xref === "paper" && note.yref === "paper" && note.x === 0 && note.y === 1 && note.yanchor === "bottom";
    if (!above || note.xanchor !== "left" || /<(?!br>)|&/.test(note.text)) return note;
    const letter = (note.font?.size ?? node._fullLayout.font.size) * 0.54;
    const most = Math.max(12, Math.floor((width - size.l - (note.xshift ?? 0) - 6) / letter));
    const before = note.text.split("<br>");
    if (before.every((line) => line.length <= most)) return note;
    const lines = [];
    for (const word of note.text.split(/ |<br>/)) {
      const last = lines.at(-1);
      if (last !== undefined && last.length + word.length < most) lines[lines.length - 1] = `${last} ${word}`;
      else lines.push(word);
    }
    more = Math.max(more, (lines.length - before.length) * (note.font?.size ?? 12) * 1.3);
    return { ...note, text: lines.join("<br>") };
  });
  if (!annotations.some((note, n) => note !== node.layout.annotations[n])) return;
  node.style.height = `${height + more}px`;
  await Plotly.relayout(node, { annotations, "margin.t": margin.t + more, height: height + more });
}
