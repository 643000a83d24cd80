"""What an ingest says: what became of each file, what was assumed, and which option settles it."""
