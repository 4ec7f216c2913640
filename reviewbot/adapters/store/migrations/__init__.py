"""Revisions of the schema, one a file. Read by Alembic, and only where an older ledger is opened; never imported by us."""
