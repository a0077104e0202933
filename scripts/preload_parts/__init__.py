"""What scripts share that run other people's programs with the interposer preloaded."""
