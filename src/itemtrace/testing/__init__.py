"""What our tests and our users' tests share. Each module is imported by its own name.

`provider` is a model provider on loopback that answers from a script, `items` builds what it
answers; `recorder` keeps exported spans in memory with fixed ids; `truth` compares a rebuilt run
with the SDK's own result; `demo` is a run of several agents with a bit of everything.
`strategies` (needs hypothesis) generates values, items and spans; `store_contract` (needs pytest)
is what every store has to pass; `conformance` checks spans against the semantic conventions.

Nothing is imported here, since the modules need different packages.
"""
