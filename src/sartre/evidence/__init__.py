"""What can be said of learnt edges: how often they come back, and what to worry about."""
