"""What scripts/scoreboard is made of: runs, arithmetic, verdicts, tables, plots."""
