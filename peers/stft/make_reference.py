"""Write SciPy's spectrograms of three small signals, for the test of matnet-data's own.

    python peers/stft/make_reference.py > crates/matnet-data/tests/reference/stft.txt

needs numpy and scipy. The order of the numbers is [time, channel, bin], zero frequency left out.
"""

import numpy as np
import scipy
from scipy.signal import spectrogram

RATE = 256


def signals():
    """A tone between two bins on a drift, a chirp with an offset, and noise; as f32, like every input."""
    t = np.arange(256) / RATE
    noise = np.random.default_rng(3).normal(size=256)
    tone = 20 * np.sin(2 * np.pi * 10.7 * t + 0.3) + 15 * t - 4
    chirp = 8 * np.cos(2 * np.pi * (5 * t + 45 * t**2)) + 30
    return np.stack([tone, chirp, 5 * noise]).astype(np.float32)


def line(name, values):
    print(name + ": " + " ".join(f"{v:.9g}" for v in np.ravel(values)))


def main():
    x = signals()
    print(f"# made by peers/stft/make_reference.py with scipy {scipy.__version__}, numpy {np.__version__}")
    line("signals", x)
    x = x.astype(np.float64)
    for mean in ("signal", "window"):
        for value, mode, scaling in (("magnitude", "magnitude", "spectrum"), ("density", "psd", "density")):
            y = x - x.mean(axis=-1, keepdims=True) if mean == "signal" else x
            _, _, s = spectrogram(y, RATE, window="hamming", nperseg=64, noverlap=56, mode=mode,
                                  scaling=scaling, detrend=False if mean == "signal" else "constant")
            assert s.shape == (3, 33, 25)
            line(f"{mean} {value}", s[:, 1:].transpose(2, 0, 1))


if __name__ == "__main__":
    main()
