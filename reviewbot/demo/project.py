"""A small project with planted defects, to be reviewed by the demo."""

from collections.abc import Iterator
from pathlib import Path

from reviewbot.git.process import ENVIRONMENT, Git

SHOP = Path(__file__).with_name("shop")
BASE_MESSAGE = "Start a shop with catalogue, cart and orders"
HEAD_MESSAGE = """Offer vouchers at checkout

A voucher takes a percentage off the subtotal. The price of an order is
now worked out in one place, quote(), which the cart page calls as well.
The catalogue can leave out what is sold out, and customers can take a
part of a line out of the cart.
"""
# With these and equal files, the ids of the commits are always the same.
IDENTITY = {
    f"GIT_{role}_{field}": value
    for role in ("AUTHOR", "COMMITTER")
    for field, value in {
        "NAME": "Shop",
        "EMAIL": "shop@example.org",
        "DATE": "2025-03-01T12:00:00Z",
    }.items()
} | {"GIT_DEFAULT_HASH": "sha1"}


async def create_project(folder: Path) -> None:
    """Create a git repository with two commits; the second is the change to review."""
    variables = {name: ENVIRONMENT[name] for name in ENVIRONMENT if name != "GIT_INDEX_FILE"}
    git = Git(folder, {**variables, **IDENTITY}, options=("-c", "init.defaultBranch=main"))
    await git("init", "--quiet", "--template=")
    for side, message in (("base", BASE_MESSAGE), ("head", HEAD_MESSAGE)):
        for path, text in read_files(side):
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_text(text, encoding="utf-8")
        await git("add", "--all")
        await git("commit", "--quiet", f"--message={message}")


def read_files(side: str) -> Iterator[tuple[str, str]]:
    """Paths and texts: all files of the base, and those that differ at head.

    Their names end in ".txt", so that no tool takes them for files of this program.
    """
    for path in sorted((SHOP / side).rglob("*.txt")):
        name = str(path.relative_to(SHOP / side)).removesuffix(".txt")
        # It divides the access token: whoever scans this repository should not find one.
        yield name, path.read_text(encoding="utf-8").replace("@@", "")
