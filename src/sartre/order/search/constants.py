"""The thresholds of the order search's decisions, each with its meaning and its reason.

`benchmarks/constants.py order` prints what half and twice each value would do to accuracy and time.
"""

from __future__ import annotations

# The start
START_ROWS = 1000  # rows that SCORE sees: its time grows with their cube, and the search mends what they miss

# Functions that may explain a variable
KNOTS = 9  # of a variable's natural cubic splines: 8 functions without the constant
ORDERS = 2  # of the rank polynomials in the products of a pair: 4 functions
BEND_RIDGE = 1e-4  # on a function of roughness 1, the smoothest that bends: columns that nearly determine each other
LEAST_RIDGE = 1e-9  # on every function, so that exactly dependent columns have a solution
PAIRS = 20  # offered to a target; with 20 to 170 the orders were the same
MAX_FUNCTIONS = 6000  # in the Gram matrix: 300 MB

# The local score: log residual variance, and a price for each block of functions
FUNCTION_PRICE = 0.5  # times log(n) / n for each function of a block, as in BIC
CHOICE_PRICE = 1.0  # times log(N) / n for the choice among N blocks: the best of thousands of pairs would over-fit
LEAST_VARIANCE = 1e-6  # of a residual: below, only rounding by bins and ridge is left
MAX_SHARE = 3  # at most n / 3 functions are fitted
MAX_BYTES = 1 << 29  # of all stored steps; beyond, they are forgotten and computed again

# Moves
TOLERANCE = 6.0  # over n: what a move must gain, three units of log likelihood
MOVE_TIE = 1e-9  # gains this close are equal up to rounding: the nearer position is taken
