"""When the matrix does not fit.

A kernel looks at every pair of rows. A million rows are 10¹² pairs: too many to store and too many to compute. But a kernel is an
inner product of features, and where those are infinitely many, finitely many often do: drawn at random, or spanned by a few of
the rows.
"""

import numpy as np

from mercer import Kernel, KernelRidge

rng = np.random.default_rng(12)


def relative_error(K, F):
    """How far the inner products of the rows of F are from K."""
    return float(np.linalg.norm(F @ F.T - K) / np.linalg.norm(K))


# The Gaussian kernel is the mean of cos⟨ω, x − z⟩ over normal frequencies ω (Bochner's theorem), and
# cos⟨ω, x − z⟩ = cos⟨ω, x⟩cos⟨ω, z⟩ + sin⟨ω, x⟩sin⟨ω, z⟩: a cosine and a sine for every ω are features.
d, sigma = 6, 2.0
X = rng.standard_normal((300, d))
K = Kernel(f"rbf(sigma={sigma})")(X)


def waves(X, W):
    phases = X @ W.T
    return np.hstack([np.cos(phases), np.sin(phases)]) / np.sqrt(len(W))


def gaussian(count):
    return rng.standard_normal((count, d)) / sigma


def mean_error(draw, K, frequencies, times=12):
    return float(np.mean([relative_error(K, waves(X, draw(frequencies))) for _ in range(times)]))


few, many = mean_error(gaussian, K, 64), mean_error(gaussian, K, 1024)
print(f"error of the kernel with 128 features {few:.3f}, with 2,048 {many:.3f}")
# Sixteen times the features, a quarter of the error: it falls as 1/√D.
assert 3 < few / many < 5


# Directions that are orthogonal to each other cover the space more evenly than independent ones.
def orthogonal(count):
    blocks = []
    for _ in range(-(-count // d)):
        Q, _ = np.linalg.qr(rng.standard_normal((d, d)))
        blocks.append(Q * np.linalg.norm(rng.standard_normal((d, d)), axis=1)[:, None])
    return np.vstack(blocks)[:count] / sigma


even = mean_error(orthogonal, K, 64)
print(f"with 128 features along orthogonal directions {even:.3f}")
assert even < few

# Another kernel has other frequencies. Those of the Laplacian exp(−γ|x − z|₁) are Cauchy. Normal ones of the same width do not
# approximate it, however many there are.
L = Kernel("laplacian(gamma=0.3)")(X)


def cauchy(count):
    return 0.3 * rng.standard_cauchy((count, d))


def wrong(count):
    return 0.3 * rng.standard_normal((count, d))


assert mean_error(cauchy, L, 2048, 3) < 0.5 * mean_error(cauchy, L, 128, 3)
assert mean_error(wrong, L, 2048, 3) > 0.5 * mean_error(wrong, L, 128, 3)

# Landmarks: features from a few of the rows. With k(x) the kernel of x with the landmarks and K_MM = CCᵀ that among them,
# φ(x) = C⁻¹k(x). They know where the rows are, random frequencies do not.
landmarks = X[:128]
C = np.linalg.cholesky(Kernel(f"rbf(sigma={sigma})")(landmarks) + 1e-10 * np.eye(128))
phi = np.linalg.solve(C, Kernel(f"rbf(sigma={sigma})")(landmarks, X)).T
print(f"with 128 landmarks {relative_error(K, phi):.4f}")
assert relative_error(K, phi) < few
# Between landmarks the features are exact.
assert np.allclose(phi[:128] @ phi[:128].T, K[:128, :128], atol=1e-6)


# Ridge regression on the features needs sums over rows alone, ΦᵀΦ and Φᵀy: rows come in chunks and are forgotten.
def stream(rows, chunk=500):
    source = np.random.default_rng(99)
    for _ in range(rows // chunk):
        x = source.standard_normal((chunk, d))
        yield x, np.sin(x[:, 0]) + x[:, 1] * x[:, 2] + 0.1 * source.standard_normal(chunk)


W, penalty = orthogonal(256), 1e-2
gram, moment = np.zeros((512, 512)), np.zeros(512)
for x, y in stream(20_000):
    features = waves(x, W)
    gram += features.T @ features
    moment += features.T @ y
weights = np.linalg.solve(gram + penalty * np.eye(512), moment)

new = rng.standard_normal((1_000, d))
truth = np.sin(new[:, 0]) + new[:, 1] * new[:, 2]


def distance(prediction):
    return float(np.sqrt(np.mean((prediction - truth) ** 2)))


# Twenty thousand rows through 512 features do better than the exact kernel on the first thousand of them.
first = [chunk for _, chunk in zip(range(2), stream(20_000), strict=False)]
x, y = (np.concatenate(part) for part in zip(*first, strict=True))
exact = KernelRidge(kernel=f"rbf(sigma={sigma})", alpha=penalty).fit(x, y)
streamed, small = distance(waves(new, W) @ weights), distance(exact.predict(new))
print(f"distance from the truth: 20,000 rows on features {streamed:.3f}, 1,000 rows exactly {small:.3f}")
assert streamed < small
