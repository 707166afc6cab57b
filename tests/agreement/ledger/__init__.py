"""A ledger of behavior: what every command and the public functions give for small inputs, as JSON that is compared.

`inputs` makes the files, `entries` names what is run on them, `running` runs a source tree, which may be of another
commit, `record` describes what came out, and `compare` finds what differs between two ledgers. Of the package nothing
is imported but what its users import.
"""
