"""How pictures with axes look: one style for all that scripts draw."""
