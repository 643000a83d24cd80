"""Alerts: a plan of a plot gives a row, or a metric becomes true, for the first time after data came in."""
