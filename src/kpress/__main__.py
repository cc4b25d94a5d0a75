"""``python -m kpress``: the same as the command ``kpress``."""

import sys

from kpress.cli import main

if __name__ == "__main__":
    sys.exit(main())
