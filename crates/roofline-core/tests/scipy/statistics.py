"""Answers questions about data sets with SciPy: a JSON array on stdin, another on stdout."""

import json
import sys

import numpy as np
from scipy import stats


def answer(question):
    values = np.array(question["values"])
    alpha = question["alpha"]
    deviation = stats.median_abs_deviation(values)
    distances = np.abs(values - np.median(values))
    far = max(5 * 1.4826 * deviation, 0.1 * abs(np.median(values)))
    answer = {
        "quantiles": list(np.quantile(values, question["quantiles"])),
        "mad": deviation,
        "median_interval": median_interval(values, alpha),
        "outliers": int(np.sum(distances > far)),
        "drift": drift(values),
        "t_interval": None,
        "smallest_effect": None,
        "word": None,
    }
    if len(values) >= 2:
        mean, error, freedom = trimmed(values)
        # SciPy has no interval where there is no spread.
        low, high = stats.t.interval(1 - alpha, freedom, loc=mean, scale=error) if error > 0 else (mean, mean)
        answer["t_interval"] = [mean, (high - low) / 2]
        answer["smallest_effect"] = (stats.t.ppf(1 - alpha / 2, freedom) + stats.t.ppf(0.9, freedom)) * error
        answer["word"] = word(values, question)
    return answer


def trimmed(values):
    """Yuen's mean, standard error and degrees of freedom: a sixth off each end, from twelve values on."""
    cut = len(values) // 6 if len(values) >= 12 else 0
    limits = (cut / len(values) + 1e-9,) * 2
    kept = len(values) - 2 * cut
    squares = stats.mstats.winsorize(values, limits=limits).var(ddof=0) * len(values)
    return stats.trim_mean(values, limits[0]), np.sqrt(squares / kept / (kept - 1)), kept - 1


def median_interval(values, alpha):
    """The narrowest pair of order statistics, as many from either end, that errs no more often than alpha."""
    n, ordered = len(values), np.sort(values)
    for k in range((n + 1) // 2, 0, -1):
        if 2 * stats.binom.cdf(k - 1, n, 0.5) <= alpha:
            return [ordered[k - 1], ordered[n - k]]
    return None


def drift(values):
    third = len(values) // 3
    if third < 3 or np.median(values[:third]) == 0:
        return None
    return np.median(values[-third:]) / np.median(values[:third]) - 1


def word(values, question):
    """One-sided t tests: against the floor for a difference, against both margins for equivalence."""
    level, floor, margin = question["alpha"] / 2, question["floor"], np.log1p(question["delta"])
    if is_beyond(values, floor, level):
        return "slower"
    if is_beyond(-values, floor, level):
        return "faster"
    if is_beyond(values, -margin, level) and is_beyond(-values, -margin, level):
        return "same"
    return "inconclusive"


def is_beyond(values, bound, level):
    """Whether a one-sided t test shows that the mean is above the bound."""
    mean, error, freedom = trimmed(values)
    if error == 0:
        return mean > bound
    return stats.t.sf((mean - bound) / error, freedom) < level


json.dump([answer(question) for question in json.load(sys.stdin)], sys.stdout)
