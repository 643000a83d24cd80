"""Samples outside of the store's file: immutable objects in a folder, or in S3, Google Cloud Storage or Azure."""
