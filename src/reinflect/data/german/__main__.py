"""Writes the files of the bundled German splits into a folder: `python -m reinflect.data.german FOLDER`."""

import sys
from pathlib import Path

from reinflect.data.german.verbs import draw_splits
from reinflect.data.items import write_items

for name, items in draw_splits().items():
    write_items(Path(sys.argv[1]) / f"{name}.tsv", items)
