"""Syntax trees that several threads make at once."""

from __future__ import annotations

import subprocess
import sys

PARSING = """
import gc, threading, time
from workbench.python_tree import literal, tree_of

class Litter:
    def __del__(self):
        time.sleep(0)  # lets another thread go on, in the middle of a tree

def litter():
    one = Litter()
    one.own = one

def work(deep):
    if deep:
        return work(deep - 1)
    for _ in range(100):
        for _ in range(20):
            litter()
        tree_of(text)
        literal("[1, (2, 3), {'a': [4]}]")
    done.append(1)

text = "\\n".join(f"a{n} = [b{n}, (c{n}, d{n} + {n})]" for n in range(40))
done = []
gc.set_threshold(50)
threads = [threading.Thread(target=work, args=(10 * n,)) for n in range(4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(len(done))
"""


def test_threads_that_parse_at_once_do_not_disturb_each_other() -> None:
    done = subprocess.run([sys.executable, "-c", PARSING], capture_output=True, text=True, check=False)
    assert (done.stdout.strip(), done.stderr) == ("4", "")
