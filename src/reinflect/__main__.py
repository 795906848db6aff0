"""The start of the program: Ctrl-C ends it without a traceback from the first import on."""

import os
import sys

from reinflect.errors import INTERRUPTED

# NumPy reads it when it is imported: products are small here, and further threads only wait for each other.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


def run() -> None:
    try:
        from reinflect.cli import main

        main()
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)


if __name__ == "__main__":
    run()
