// Fills the frames of a converted notebook: each gets a page of its own, which may run its script and reach nothing else.
(() => {
  const texts = new Map();
  function unpacked(id) {
    if (!texts.has(id)) {
      const bytes = Uint8Array.from(atob(document.getElementById(id).textContent), (letter) => letter.charCodeAt(0));
      texts.set(id, new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).text());
    }
    return texts.get(id);
  }
  const frames = [...document.querySelectorAll("iframe[data-workbench]")];
  addEventListener("message", ({ source, data }) => {
    const frame = frames.find((one) => one.contentWindow === source);
    if (frame && Number.isFinite(data?.height)) frame.style.height = `${Math.min(Math.ceil(data.height), 20000)}px`;
  });
  frames.forEach(async (frame, number) => {
    const { before, library, after } = JSON.parse(await unpacked(`workbench-frame-${number}`));
    frame.srcdoc = before + await unpacked(`workbench-library-${library}`) + after;
  });
})();
