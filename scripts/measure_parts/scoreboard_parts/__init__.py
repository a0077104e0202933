"""What scripts/measure scoreboard is made of: runs, arithmetic, verdicts, tables, plots."""
