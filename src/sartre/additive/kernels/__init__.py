"""Every compiled loop: plain arrays in, in-place results out, nothing checked."""
