"""What every test of the zones may ask for: a repository with a change, models that answer, the commands as processes."""

from tests.models.conftest import models, stage

__all__ = ["models", "stage"]
