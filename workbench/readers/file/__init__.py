"""The bytes of a file before any table: archives, sheets, nested structures, and parsers that are not ours."""
