"""``python -m kpress``: the same as the command ``kpress``."""

import sys

from kpress.cli import main

sys.exit(main())
