"""What scripts of several groups share."""
