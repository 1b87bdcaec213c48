"""Everything between the user's file or frame and a checked table."""
