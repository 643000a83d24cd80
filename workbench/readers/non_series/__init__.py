"""Files that hold no series: parameter sets of cells, drive cycles, capacities by cycle."""
