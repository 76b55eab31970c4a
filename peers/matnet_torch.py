"""`matnet.torch.layers` and `matnet.torch.nets` of the Python package, found without installing it."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "python"))

from matnet.torch.layers import *  # noqa: E402, F403
from matnet.torch.nets import *  # noqa: E402, F403
