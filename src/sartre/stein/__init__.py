"""Score and Hessian estimators by Stein's identity, on the CPU and on a GPU, and an independence criterion."""
