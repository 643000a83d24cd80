"""From the text or the typed columns of a file to a table: layout, names, units, kinds, signs, times, impedance."""
