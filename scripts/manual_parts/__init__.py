"""Parts of scripts/manual."""
