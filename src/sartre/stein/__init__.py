"""Score and Hessian estimators by Stein's identity, on the processor and on a GPU; an independence criterion beside."""
