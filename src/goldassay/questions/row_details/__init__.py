"""What is said of single rows beside the verdicts, for who looks through them: tables of an audit, bounded in size."""
