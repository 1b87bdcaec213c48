"""The constants of Gaussian processes, each with its meaning and its reason."""

from __future__ import annotations

LOWEST_NOISE = 3e-4  # share of the target's variance: low enough for nearly noiseless tables, safe in single precision
HIGHEST_NOISE, LARGEST_ROOT = 10.0, 30.0  # of the noise and of the root of a weight: beyond, a step has overshot
NO_WEIGHT = 1e-6  # sum of a candidate's weights below which it has no effect
GAIN_PER_STEP = 1e-5  # relative gain of the likelihood below which a fit stops: some 0.01 units at 1,000 rows

SMOOTHEST = 1e-3  # variance of a curve's roughest function at least, where that of its smoothest is one
LEAST_JOINT = 0.02  # weight in the joint part, relative to the largest, from which a candidate acts jointly
MOST_LEVELS_JOINT = 5  # of a category in the joint part
MOST_ROWS_FITTED, FIT_STEPS = 2000, 25  # of a mechanism

# Where a fit starts: of all candidates together, all weights alike; where more rows are added, no weight at zero
START_JOINT, START_NOISE, START_WITHIN, START_ADDITIVE = 0.5, 0.3, 0.2, 0.02
START_DISTANCE = 1.2  # mean of half the squared distance of two rows, at most
LIFTED_WITHIN, LIFTED_ADDITIVE = 0.005, 0.001

# Backward elimination
USELESS = 1.0  # fall of the likelihood below which several candidates are removed at once
PLAINLY_NEEDED = 60.0  # fall above which a candidate is not looked at again
WORTH_A_REFIT = 25.0  # fall beyond the price above which refitting the others would not make up for it
REFIT_STEPS = 8  # of the others, when a candidate is removed
MOST_KEPT = 3  # candidates that a refit without them shows to be needed, after which the rest is needed too

# Noise whose variance follows candidates
FOLLOWS = 1e-4  # p-value at which the size of the residuals follows a candidate
LEAST_SPREAD = 0.2  # of the mean spread: that of a row is not lower
