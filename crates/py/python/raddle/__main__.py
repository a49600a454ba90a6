"""The command line: `raddle run bfs`, or `python -m raddle run bfs`."""

import os
import shutil
import signal
import sys

from raddle._raddle import command_line


def main() -> int:
    """Does what the command line says."""
    # Ctrl-C is the command's own business.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    program = shutil.which("raddle")
    if program:
        os.environ.setdefault("RADDLE_PROGRAM", program)
    sys.stdout.flush()
    return command_line(["raddle", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
