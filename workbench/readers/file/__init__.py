"""The bytes of a file before it is a table: archives, workbooks, nested structures, parsers of other packages."""
