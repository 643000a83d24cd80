"""The server for assistants: programs of other makers use the workbench through the Model Context Protocol (MCP).

A tool is a route of the HTTP interface (`tools`): its arguments come from the route, and a call of the tool is a
request to the route with the key of the assistant (`asking`). So an assistant can do what its key can do over HTTP, and
nothing else: rights, rates, limits, locked scripts and the audit log are those of the route.

Only `protocol`, `at_http` and `at_stdio` use the SDK, the extra ``mcp``.
"""
