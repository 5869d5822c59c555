"""What commands print: transcripts, tables, trees.

Each view takes a ledger's objects and gives renderables of rich; text from the trace goes through
`itemtrace.cli.safe` on its way.
"""
