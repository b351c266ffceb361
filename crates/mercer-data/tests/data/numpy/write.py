"""Writes the arrays of this folder, which the tests read; made with NumPy 2.4.6."""

import numpy as np

values = np.arange(1, 7).reshape(3, 2)
for kind in ["f8", "f4", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"]:
    np.save(f"{kind}-c.npy", values.astype(kind))
    np.save(f"{kind}-fortran.npy", np.asfortranarray(values.astype(kind)))
np.save("big-endian.npy", values.astype(">f8"))

x, y, z = np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([5, 6]), np.array([1, 2, 3])
np.savez("stored.npz", z=z, X=x, y=y)
np.savez_compressed("deflated.npz", z=z, X_train=x, y_train=y)

np.save("thirds.npy", (np.arange(6) / 3).reshape(3, 2))
np.save("single.npy", np.array([[0.1, 2.0]], dtype="f4"))
np.save("empty.npy", np.zeros((0, 5)))
