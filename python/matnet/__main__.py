"""``python -m matnet`` is the command ``matnet``."""

import sys

from matnet._cli import main

sys.exit(main())
