"""A person who works by keyboard alone: Tab to a thing, then the keys that it takes."""

from __future__ import annotations

from playwright.sync_api import Locator, Page

MOST_TABS = 160
"""More stops than any page has before what is looked for."""
FOCUSED = "(node) => node.getRootNode().activeElement === node"
WHAT_HAS_FOCUS = """() => {
  const node = document.activeElement;
  return `${node.tagName} ${node.getAttribute("aria-label") ?? node.textContent.slice(0, 40)}`;
}"""


class Keyboard:
    """The keys of a window, and the promise that the focus is always somewhere."""

    def __init__(self, page: Page) -> None:
        self.page = page

    def focus(self) -> str:
        """What has the focus, in words. The body is nowhere: no key would be heard."""
        found: str = self.page.evaluate(WHAT_HAS_FOCUS)
        return found

    def reach(self, wanted: Locator, *, back: bool = False) -> None:
        """Press Tab until this has the focus."""
        wanted.wait_for()
        passed: list[str] = []
        for _ in range(MOST_TABS):
            if wanted.evaluate(FOCUSED):
                return
            self.page.keyboard.press("Shift+Tab" if back else "Tab")
            passed.append(self.focus())
        raise AssertionError(f"Tab does not lead to {wanted}. It passed: {passed}")

    def press(self, *keys: str) -> None:
        for key in keys:
            self.page.keyboard.press(key)

    def use(self, wanted: Locator, key: str = "Enter") -> None:
        """Reach this and press a key on it."""
        self.reach(wanted)
        self.page.keyboard.press(key)

    def write(self, wanted: Locator, text: str) -> None:
        """Reach a field and write in it, instead of what it had."""
        self.reach(wanted)
        self.press("Control+a")
        self.page.keyboard.type(text)

    def has_place(self) -> None:
        """The focus is on something of the page, not lost."""
        self.page.wait_for_function("() => document.activeElement !== document.body")
