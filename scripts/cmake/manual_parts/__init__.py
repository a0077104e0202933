"""Parts of scripts/cmake/manual."""
