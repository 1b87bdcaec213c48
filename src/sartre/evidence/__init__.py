"""Evidence about learnt edges: how often they are found again, and what to worry about."""
