"""The start of the program: Ctrl-C ends it without a traceback from the first import on."""

import sys

from reinflect.errors import INTERRUPTED


def run() -> None:
    try:
        from reinflect.cli import main

        main()
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)


if __name__ == "__main__":
    run()
