"""What composes the rooms: the audit of a benchmark."""
