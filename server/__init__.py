"""The embedded FastAPI application (comes with the server)."""
