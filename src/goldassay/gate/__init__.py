"""Judge reports: against a policy (`check`), and against an earlier report (`diff`)."""
