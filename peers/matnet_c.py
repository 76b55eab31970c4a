"""matnet's C interface, called with ctypes."""

import ctypes
from pathlib import Path

import numpy

SIZES = ctypes.POINTER(ctypes.c_size_t)


class Library:
    def __init__(self, path: Path):
        self.lib = ctypes.CDLL(str(path))
        self.lib.matnet_last_error.restype = ctypes.c_char_p
        self.lib.matnet_load.argtypes = [ctypes.c_char_p, ctypes.POINTER(ctypes.c_void_p)]
        self.lib.matnet_free.argtypes = [ctypes.c_void_p]
        self.lib.matnet_predict.argtypes = [
            ctypes.c_void_p, ctypes.POINTER(ctypes.c_float), SIZES, ctypes.c_size_t, SIZES, ctypes.POINTER(ctypes.c_void_p)
        ]
        self.lib.matnet_prediction_free.argtypes = [ctypes.c_void_p]

    def check(self, status: int) -> None:
        if status != 0:
            raise RuntimeError(self.lib.matnet_last_error().decode())

    def load(self, run: Path) -> "Model":
        handle = ctypes.c_void_p()
        self.check(self.lib.matnet_load(str(run).encode(), ctypes.byref(handle)))
        return Model(self, handle)


class Model:
    def __init__(self, library: Library, handle):
        self.library, self.handle = library, handle

    def predict(self, inputs: numpy.ndarray, lengths=None) -> None:
        """Predicts and throws the prediction away: what is timed."""
        shape = (ctypes.c_size_t * inputs.ndim)(*inputs.shape)
        steps = None if lengths is None else (ctypes.c_size_t * len(lengths))(*map(int, lengths))
        prediction = ctypes.c_void_p()
        lib, numbers = self.library.lib, inputs.ctypes.data_as(ctypes.POINTER(ctypes.c_float))
        self.library.check(lib.matnet_predict(self.handle, numbers, shape, inputs.ndim, steps, ctypes.byref(prediction)))
        lib.matnet_prediction_free(prediction)

    def __del__(self):
        self.library.lib.matnet_free(self.handle)
