"""Which labels may be wrong: defects that no model is needed for, and what models of unlike families say."""
