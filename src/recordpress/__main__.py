"""``python -m recordpress``, the same as the command ``recordpress``."""

import sys

from recordpress.cli import main

if __name__ == "__main__":
    sys.exit(main())
