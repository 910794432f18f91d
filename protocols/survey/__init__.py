"""One collector mines the disguised answers of many respondents: no second party (DESIGN 8)."""
