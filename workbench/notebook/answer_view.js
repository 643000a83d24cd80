// What the check of an answer found, on the page and in a notebook: problems to take back to the model, hints, numbers.

export function made(tag, name, parent, text) {
  const node = document.createElement(tag);
  if (name) node.className = name;
  if (text !== undefined) node.textContent = text;
  parent?.append(node);
  return node;
}

export function details(title, parent, name) {
  const node = made("details", name, parent);
  made("summary", "", node, title);
  return node;
}

/** Shows it in an element; `copyButton` makes the button that copies the problems. */
export function showAnswer(root, { problems, words, hints, numbers }, copyButton) {
  if (problems.length) {
    const list = made("ul", "wb-author-problems", root);
    for (const one of problems) made("li", "", list, one);
    if (words) root.append(copyButton("Copy the problems", "Copy them for the language model", words));
  }
  if (hints.length) {
    const list = made("ul", "wb-author-hints", details(`${hints.length} to check in the figure`, root, "wb-author-lint"));
    for (const one of hints) made("li", "", list, one);
  }
  if (numbers) {
    const text = made("pre", "wb-author-numbers", details("Numbers of the figure", root, ""), numbers);
    text.tabIndex = 0;
  }
}

