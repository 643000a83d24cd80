"""From a file to checked samples with their steps and cycles, in worker processes; nothing here knows the store."""
