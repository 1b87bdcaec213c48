"""The thresholds of the automatic method's decisions, each with its meaning and its reason.

`benchmarks/constants.py prune` prints what half and twice each value would do to accuracy and time. Guards
against rounding stand beside the formulas that need them.
"""

from __future__ import annotations

# The entrance
LEVEL = 0.01  # expected false parents per target where nothing has an effect
LEVELS = (1e-6, 1e-5, 1e-4, 1e-3, 0.003, 0.01, 0.03, 0.1, 0.3)  # of a path
PENALTIES = (0.3, 0.25, 0.2, 0.15, 0.1, 0.07, 0.05)  # of a path, for the paper's method

# Screening makes a short list; nothing is decided yet
SCREENING_LEVEL = 0.05  # chance that a useless variable passes
MOST_BY_CHANCE = 20  # useless variables expected to pass at most; above 400 candidates the level is lowered for this
SCREENING_GAP = 1e-2  # relative duality gap at which the lasso stops: 1e-6 gives the same graphs more slowly
SAMPLES_PER_LINE = 10  # with this many per candidate, a linear model of all candidates is fitted as well

# Smooth functions and their tests
N_SPLINES = 10  # knots of a variable
SMOOTHNESS_TOL = 0.05  # of the likelihood's derivatives: tests hardly change with the last digits of the smoothness

# Pairs that act together
PAIR_STAYS = 0.001  # p-value up to which a pair stays once it is in
ALL_PAIRS = 100  # up to this many candidates all pairs are searched; above, only pairs with a promising variable
MOST_PROMISING = 10  # variables outside the model that count as promising, besides those in it
WORTH_TESTING = 10  # times the bound: a pair whose tail under independence is heavier is not tested exactly
PAIRS_TESTED = 10  # pairs whose exact null is computed, those with the largest statistic
MOST_PAIRS = 25  # per target: beyond, only the time grows, with the cube of their functions
FUNCTIONS_SHARE = 3  # no more pairs are added once the model has n / 3 functions

# Robust tests
HEAVY_TAILS = 1.5  # excess kurtosis of a residual, half that of Laplace noise
UNEQUAL_VARIANCE = 1e-4  # p-value, over all candidates, at which the size of a residual follows one of them

# Joint effects of many parents, by Gaussian processes
FIRST_ROWS, ALL_ROWS = 1000, 2000  # that a process sees: at first, and where they may change the parents
CHECKED_ROWS = 20_000  # in which a parent that a process removes must make no difference
BRIEF_FIRST_ROWS, BRIEF_ROWS = 400, 800  # the same with joint="auto"
MOST_COLUMNS = 50  # of a table in which joint="auto" looks for joint effects
MOST_EVALUATIONS = 1000  # at BRIEF_ROWS, that joint="auto" plans for a table: 3 to 25 seconds
MOST_WITH_EXPERIMENTS = 4000  # the same where rows come from different environments: all targets of 25 variables
EVALUATIONS = 6  # per candidate of a target on which a process decides, on average
LOOKED = 50  # evaluations per target at the first rows, on average
FEWEST_JOINT_ROWS = 200  # with fewer the process was never tried
MOST_JOINT = 25  # candidates that it sees, those found so far and those that pull most
FIRST_STEPS, MORE_STEPS = 25, 15  # of the first fit, from nothing, and of each that starts from another
WORTH_MORE_ROWS = 5.0  # gain of the likelihood, over that of the parents found so far, for which more rows are fitted
JOINT_GAIN = 3.0  # gain of the joint part, without which the process removes no parent
NO_NOISE = 1.5  # times the lowest noise of a process: with less than that left, it tells nothing about other parents
FIRST_GAIN = 1.0  # gain of other parents at the first rows, less their price, for which joint="auto" fits more rows
FIRST_SHARE = 0.6  # of the price of a parent, at the first rows
FOLDS = 5  # of the rows, in which an additive model is compared with the process
LEFT_OUT_T = 3.0  # t-value, over the rows, of the fall of the squared error that new parents must bring

# Rows that repeat another row
FEWEST_VALUES, FILLED = 20, 0.5  # a column with more values, filling less than half of the steps in its range, is fine
NEARLY_ALL = 0.95  # share of the distinct rows that must differ for repeats not to be chance

# Rows that differ
SAMPLED_ROWS = 5000  # of a target's own rows, which decide on it unless an additive model is all there is to it

# Tables with many rows
MOST_REPEATS = 0.001  # share of repeated rows in the sample above which all rows are not added up
MANY_SPLINES = 40  # knots of a variable in the model: with many rows even a small misfit is significant
