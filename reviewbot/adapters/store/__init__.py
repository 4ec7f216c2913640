"""The ledger: calls that were paid for, debates with their documents, speeds of local models. SQLAlchemy Core, no ORM.

``open_store`` is the way in (``ledger.py``). Importing this package imports nothing; ``ledger`` imports SQLAlchemy.
"""
