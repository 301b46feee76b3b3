# SPDX-License-Identifier: BSD-3-Clause
"""Statistics of the overhead experiments: quartiles, and Student's t test with unpaired measures and unequal variance."""
import math
from statistics import NormalDist, fmean, median, quantiles, variance


class Spread:
    """Median and quartiles."""

    def __init__(self, values):
        values = list(values)
        self.n, self.middle = len(values), median(values)
        self.low, _, self.high = quantiles(values, n=4, method="inclusive") if len(values) > 1 else (self.middle,) * 3

    def __str__(self):
        return "%.1f (%.1f to %.1f)" % (self.middle, self.low, self.high)


def student_quantile(p, freedom):
    """Quantile of Student's distribution by the expansion of Cornish and Fisher: right to 3 digits from 10 degrees on."""
    z = NormalDist().inv_cdf(p)
    g1 = (z ** 3 + z) / 4
    g2 = (5 * z ** 5 + 16 * z ** 3 + 3 * z) / 96
    g3 = (3 * z ** 7 + 19 * z ** 5 + 17 * z ** 3 - 15 * z) / 384
    return z + g1 / freedom + g2 / freedom ** 2 + g3 / freedom ** 3


class Welch:
    """Difference of the means of two samples, with its confidence interval (half its width)."""

    def __init__(self, without, with_, confidence=0.95):
        a, b = variance(without) / len(without), variance(with_) / len(with_)
        self.difference = fmean(with_) - fmean(without)
        self.freedom = (a + b) ** 2 / (a ** 2 / (len(without) - 1) + b ** 2 / (len(with_) - 1)) if a + b > 0 else math.inf
        quantile = student_quantile((1 + confidence) / 2, self.freedom) if a + b > 0 else 0.0
        self.half = quantile * math.sqrt(a + b)

    @property
    def significant(self):
        return abs(self.difference) > self.half
