"""From checked samples to records: what is new is created, what continues a measurement extends it, all or nothing."""
