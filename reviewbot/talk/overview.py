"""What models know of a repository before they look: the names of its files."""

from collections import Counter
from collections.abc import Collection, Mapping

from reviewbot.context.brief import Brief
from reviewbot.services import Services

MAX_NAMES = 200


async def brief_of(services: Services, tree: str, material: Mapping[str, str] = {}) -> Brief:
    """A brief of no change: the files of a tree by name, and some of them as they are."""
    repository = services.host.repository
    names = overview(await repository.list_files(tree)) if repository else []
    return Brief(title="", description="", passages=(), material=material, names=names)


def overview(paths: Collection[str]) -> list[str]:
    """At most MAX_NAMES names: files, or where there are more, folders that hold them."""
    split = [path.split("/") for path in sorted(paths)]
    for depth in range(max(map(len, split), default=0), 0, -1):
        found = Counter("/".join(parts[:depth]) + "/" * (len(parts) > depth) for parts in split)
        if len(found) <= MAX_NAMES:
            return [f"{n} ({count} files)" if n[-1] == "/" else n for n, count in found.items()]
    return [*found][:MAX_NAMES] if paths else []
