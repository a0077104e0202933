"""What the scripts of scripts/house-check share."""
