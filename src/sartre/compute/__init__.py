"""How work is run: threads and clusters, devices, checkpoints, and files that are written atomically."""
