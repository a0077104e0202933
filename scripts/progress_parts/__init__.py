"""How far a script is; used by those that run for minutes."""
