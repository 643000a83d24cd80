"""Hostile scripts whose imports are replaced by other ways to the same modules.

The list of imports refuses most hostile scripts before they do anything, so they say little about the lock. Each way
here gets a module past that list.
"""

from __future__ import annotations

import ast
from dataclasses import replace

from .hostile_scripts import Case

WAYS = {
    "pandas": "pd.compat._optional.importlib.import_module({})",
    "globals": "pd.read_csv.__globals__['__builtins__']['__import__']({}, fromlist=['_'])",
    "modules": "pd.io.common.os.sys.modules['importlib'].import_module({})",
    "classes": (
        "[one for one in object.__subclasses__() if one.__name__ == 'DataFrameGroupBy' or one.__name__ == 'Enum'"
        " or '__init__' in vars(one) and hasattr(one.__init__, '__globals__')][0]"
        ".__init__.__globals__['__builtins__']['__import__']({}, fromlist=['_'])"
    ),
    "frame": "(lambda seen: seen({}, fromlist=['_']))(px.line.__globals__['__builtins__']['__import__'])",
}
"""Name -> an expression that gives the module whose name is put in."""
CLOSED = {"open": "io"}
"""Built-in names that scripts do not have -> the module that has them too."""


def rewritten(case: Case, way: str) -> Case | None:
    """The case with another way to its modules; None if it imports nothing."""
    tree = ast.parse(case.text)
    other = _Other(WAYS[way])
    made = ast.fix_missing_locations(other.visit(tree))
    if not other.changed:
        return None
    return replace(case, name=f"{case.name} by {way}", text=ast.unparse(made))


class _Other(ast.NodeTransformer):
    def __init__(self, way: str) -> None:
        self._way = way
        self.changed = False

    def _module(self, name: str) -> str:
        self.changed = True
        return self._way.format(repr(name))

    def visit_Import(self, node: ast.Import) -> list[ast.stmt]:
        lines = []
        for one in node.names:
            top = one.name.partition(".")[0]
            if one.asname is None and top != one.name:
                lines += [self._module(one.name), f"{top} = {self._module(top)}"]
            else:
                lines.append(f"{one.asname or one.name} = {self._module(one.name)}")
        return ast.parse("\n".join(lines)).body

    def visit_ImportFrom(self, node: ast.ImportFrom) -> list[ast.stmt]:
        if node.module == "__future__":
            return [node]
        module = self._module(str(node.module))
        lines = [f"{one.asname or one.name} = getattr({module}, {one.name!r})" for one in node.names]
        return ast.parse("\n".join(lines)).body

    def visit_Name(self, node: ast.Name) -> ast.expr:
        if isinstance(node.ctx, ast.Load) and node.id in CLOSED:
            return ast.parse(f"{self._module(CLOSED[node.id])}.{node.id}", mode="eval").body
        return node
