"""All compiled loops: they take plain arrays, write results in place and check nothing."""
