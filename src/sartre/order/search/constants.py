"""The thresholds of the order search's decisions, each with its meaning and its reason.

`benchmarks/constants.py order` prints what half and twice each value would do to accuracy and time, efforts aside.
"""

from __future__ import annotations

from typing import NamedTuple


class Effort(NamedTuple):
    """How much to search.

    start_rows: that SCORE sees; its time grows with their cube, and on dense graphs its accuracy decides.
    random_starts: besides those of orderers. escapes: per variable, in vain one after the other, that end the search.
    evaluations: local scores per variable, computed by escapes, that end it too.
    polish_rows: that Gaussian processes see, by which the order that was found is made better; none if zero.
    """

    start_rows: int
    random_starts: int
    escapes: int
    evaluations: int
    polish_rows: int


EFFORTS = {
    "auto": Effort(2000, random_starts=0, escapes=2, evaluations=500, polish_rows=0),
    "fast": Effort(1000, random_starts=0, escapes=0, evaluations=0, polish_rows=0),
    "thorough": Effort(4000, random_starts=4, escapes=20, evaluations=5000, polish_rows=800),
}

# Functions that may explain a variable
KNOTS = 9  # of a variable's natural cubic splines: 8 functions without the constant
ORDERS = 2  # of the rank polynomials in the products of a pair: 4 functions
BEND_RIDGE = 1e-4  # on a function of roughness 1, the smoothest that bends: columns that nearly determine each other
LEAST_RIDGE = 1e-9  # on every function, so that exactly dependent columns have a solution
PAIRS = 20  # offered to a target; with 20 to 170 the orders were the same
MAX_FUNCTIONS = 6000  # in the Gram matrix: 300 MB

# The local score: log residual variance, and a price for each block of functions
LINE_PRICE = 1.0  # times log(n) / n for a line, as in BIC
FUNCTION_PRICE = 0.5  # times log(n) / n for each function of a curve or a pair, which share a smoothness
CHOICE_PRICE = 1.0  # times log(N) / n for the choice among N blocks: the best of thousands of pairs would over-fit
LEAST_VARIANCE = 1e-6  # of a residual: below, only rounding by bins and ridge is left
MAX_SHARE = 3  # at most n / 3 functions are fitted
MAX_BYTES = 1 << 29  # of all stored steps; beyond, they are forgotten and computed again

# The density of residuals
DENSITY_ORDERS = 4  # of the polynomials that modify the normal density: skewness, kurtosis and two more
DENSITY_PRICE = 1.0  # times log(n) / n for each of them, as in BIC: where noise is normal they change nothing
MOST_GAIN = 0.1  # per row, in units of log likelihood: noise that is farther from normal is not additive
MOST_SPREAD = 0.5  # share of the residuals whose size must follow variables, for a spread to count
SPREAD_ORDERS = 2  # polynomials of each variable's ranks that the size of a residual may follow
SPREAD_PRICE = 1.0  # of each of them, in units of log(n) / (2 n)
LOWEST_SPREAD = 0.3  # of the mean size of a residual: the spread of a row is not lower
DENSITY_ROWS = 5000  # that a density is fitted to
DENSITY_NUMBERS = 2_000_000  # rows times variables, ten functions each: 160 MB
MOST_COMMON = 0.1  # share of the rows that may have the same value: a column with more of them has no density

# Moves
START_TOLERANCE = 2.0  # times d / n: what a start must gain over the first, one unit of log likelihood per variable
MIN_START_ROWS, START_ROWS_PER_COLUMN = 200, 10  # in which nothing was set: with fewer, starts see all rows
REVERSALS = 0.15  # of d: pairs that an escape turns round
TOLERANCE = 6.0  # over n: what a move must gain, three units of log likelihood
MOVE_TIE = 1e-9  # gains this close are equal up to rounding: the nearer position is taken

# Orders compared by Gaussian processes
MOST_POLISHED = 30  # columns of a table: each process sees all that precede
POLISH_REACH = 4  # places that an insertion moves a variable; with 1, half of the errors that 4 mends remain
POLISH_STEPS = 25  # of each fit
POLISH_GAIN = 12.0  # units of log likelihood that an insertion must gain; with 5, curved graphs of 600 rows got worse
