"""What a way costs beside the dense one: differences paired by seed, and whether they are equivalent."""
import math
import statistics
from dataclasses import dataclass


@dataclass(frozen=True)
class Comparison:
    """Of pairs (way, dense). `p` is the larger of the two one-sided tests' (TOST): below 0.05 they are equivalent."""

    pairs: int
    difference: float
    error: float
    p: float


def student_cdf(t, freedom):
    """Returns P(T <= t) for a whole number of degrees of freedom (Abramowitz and Stegun, 26.7.3 and 26.7.4)."""
    angle = math.atan2(t, math.sqrt(freedom))
    cosine = math.cos(angle)
    odd = freedom % 2
    term, total = (cosine if odd else 1.0), 0.0
    for power in range(odd, freedom - 1, 2):
        total += term
        term *= (power + 1) / (power + 2) * cosine * cosine
    inside = 2 / math.pi * (angle + math.sin(angle) * total) if odd else math.sin(angle) * total
    return (1 + inside) / 2


def compare(way, dense, margin):
    """`way` and `dense` are values by seed; seeds that only one of them has are left out. None with fewer than two pairs."""
    differences = [way[seed] - dense[seed] for seed in sorted(way.keys() & dense.keys())]
    if len(differences) < 2:
        return None
    mean = statistics.mean(differences)
    error = statistics.stdev(differences) / math.sqrt(len(differences))
    if error == 0:
        return Comparison(len(differences), mean, 0.0, 0.0 if abs(mean) < margin else 1.0)
    freedom = len(differences) - 1
    p = max(student_cdf(-(mean + margin) / error, freedom), student_cdf((mean - margin) / error, freedom))
    return Comparison(len(differences), mean, error, p)
