"""A package, so that its fixtures end with the last of its tests: playwright keeps a loop running."""
