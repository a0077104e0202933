"""The parts of scripts/lab; docs/lab.md says what they make together."""
