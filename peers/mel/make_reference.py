"""Write librosa's log-mel spectrograms of two small signals, for the test of matnet-data's own.

    python peers/mel/make_reference.py > crates/matnet-data/tests/reference/mel.txt

needs numpy and librosa. The order of the numbers is [time, channel, band]; frames are not centred.
"""

import librosa
import numpy as np

RATE, FFT, HOP, OFFSET = 8000, 256, 96, 1e-6


def signals():
    """A chirp that fades, and noise with a tone; as f32, like every input."""
    t = np.arange(900) / RATE
    chirp = np.sin(2 * np.pi * (200 * t + 9000 * t**2)) * np.exp(-8 * t)
    noise = 0.1 * np.random.default_rng(5).normal(size=900) + 0.5 * np.sin(2 * np.pi * 1234.5 * t)
    return np.stack([chirp, noise]).astype(np.float32)


def line(name, values):
    print(name + ": " + " ".join(f"{v:.9g}" for v in np.ravel(values)))


def main():
    x = signals()
    print(f"# made by peers/mel/make_reference.py with librosa {librosa.__version__}, numpy {np.__version__}")
    line("signals", x)
    for name, htk, low, high, bands in (("slaney", False, 0, None, 20), ("htk", True, 100, 3500, 16)):
        power = np.abs(librosa.stft(x.astype(np.float64), n_fft=FFT, hop_length=HOP, window="hann", center=False)) ** 2
        filters = librosa.filters.mel(sr=RATE, n_fft=FFT, n_mels=bands, fmin=low, fmax=high, htk=htk, norm="slaney",
                                      dtype=np.float64)
        mel = np.log(filters @ power + OFFSET)
        line(name, mel.transpose(2, 0, 1))


if __name__ == "__main__":
    main()
