"""Items and responses as self-describing strings, and back.

`canonical` is JSON that loses nothing, `record` the versioned envelope with its digest, `chunks`
cuts records into attribute values and joins them again, `spans` the span row that every store
produces. Neither the Agents SDK nor OpenTelemetry is imported here. The format is documented in
docs/format.md.
"""
