"""What scores are worth once a shortcut that an audit found is discounted."""
