"""Every number that takes part in the automatic method's decisions, with its meaning and its reason."""

from __future__ import annotations

# The door
LEVEL = 0.01  # expected false parents per target where nothing has an effect
LEVELS = (1e-6, 1e-5, 1e-4, 1e-3, 0.003, 0.01, 0.03, 0.1, 0.3)  # of a path
PENALTIES = (0.3, 0.25, 0.2, 0.15, 0.1, 0.07, 0.05)  # of a path, for the paper's method

# Screening: a short list, nothing is decided yet
SCREENING_LEVEL = 0.05  # chance of a useless variable to pass
MOST_BY_CHANCE = 20  # useless variables that may be expected to pass; with more than 400 candidates the level is lower
CALIBRATION_ROUNDS = 3  # of penalty and noise level, each from the other (the scaled lasso)
SAMPLES_PER_LINE = 10  # from so many on the straight lines of all candidates are fitted at once
SAMPLES_PER_LISTED = 20  # the lasso's part of the list has at most one variable per so many samples
MOST_ROUNDS = 3  # of screening what a model leaves of the target

# Smooth functions and their tests
N_SPLINES = 10  # knots of a variable
SMOOTHNESS_TOL = 0.05  # of the likelihood's derivatives: tests hardly change with the last digits of the smoothness
HOPELESS = 0.05  # p-value above which several variables may be removed in one step
SHARED_VARIANCE = 0.1  # share of its coefficients' variance that each of them may share with the others

# Pairs that act together
PAIR_STAYS = 0.001  # p-value up to which a pair stays once it is in
MOST_PAIRS = 25  # per target
ALL_PAIRS = 100  # up to so many candidates every pair is looked at; above, pairs with a variable that is promising
MOST_PROMISING = 10  # variables outside the model that pairs are looked for with
WORTH_A_LOOK = 10  # times the bound: a pair whose tail under independence is heavier is not looked at
LOOKED_AT = 10  # pairs whose exact null is computed, those with the largest statistic
FUNCTIONS_SHARE = 3  # no more pairs are added once the model has n / 3 functions

# Robust tests
HEAVY_TAILS = 1.5  # excess kurtosis of a residual, half that of Laplace noise
UNEQUAL_VARIANCE = 1e-4  # p-value, over all candidates, at which the size of a residual follows one of them

# Rows that repeat another
FEWEST_VALUES, FILLED = 20, 0.5  # a column with more values, filling less of the steps in its range, is continuous
NEARLY_ALL = 0.95  # share of the distinct rows that must differ for repeats not to be chance

# Tables with many rows
MANY_SPLINES = 40  # knots of a variable that is in the model: with many rows the least misfit is significant
