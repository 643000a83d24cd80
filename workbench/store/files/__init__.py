"""Files in the store: their bytes by content, and uploads that are under way."""
