"""Contents, commits, comparisons and git's own objects over REST: all said by git."""

from __future__ import annotations

import base64
import binascii
from typing import Any

from tests.forge.hub import guards, shown
from tests.forge.hub.call import Call, Listed, Made, Text
from tests.forge.hub.problem import Problem, not_found

CONTENT_BYTES = 1_000_000
COMPARE_FILES = 300
COMPARE_COMMITS = 250
KINDS = {"blob": "file", "tree": "dir", "commit": "submodule"}


def content(call: Call) -> Any:
    """A file with its bytes, a folder as a list. A file above 1 MB comes without its bytes."""
    code, path = call.repository.code, call.variables["path"].strip("/")
    sha = code.sha(call.query.get("ref", "main"))
    kind = code.kind(f"{sha}:{path}") if sha else None
    if sha is None or kind is None:
        raise not_found()
    if kind == "tree":
        return [entry(call, sha, *told) for told in code.tree(f"{sha}:{path}")]
    raw = code.run("cat-file", "blob", f"{sha}:{path}")
    if call.accept.startswith("application/vnd.github") and ".raw" in call.accept:
        return Text(raw.decode("utf-8", "replace"), "application/vnd.github.raw; charset=utf-8")
    blob = code.git("rev-parse", f"{sha}:{path}")
    small = len(raw) <= CONTENT_BYTES
    told = named(call, path, blob, "file") | {"size": len(raw), "encoding": "base64" if small else "none"}
    return told | {"content": base64.encodebytes(raw).decode() if small else ""}


def entry(call: Call, sha: str, mode: str, kind: str, blob: str, name: str) -> dict[str, Any]:
    return named(call, f"{call.variables['path'].strip('/')}/{name}", blob, KINDS[kind]) | {"size": 0}


def named(call: Call, path: str, blob: str, kind: str) -> dict[str, Any]:
    url = f"{call.hub.api_url}/repos/{call.repository.full_name}/contents/{path}"
    links = {"git": None, "html": None, "self": url}
    return {
        "type": kind,
        "name": path.rsplit("/", 1)[-1],
        "path": path,
        "sha": blob,
        "url": url,
        "git_url": None,
        "html_url": None,
        "download_url": None,
        "_links": links,
    }


def commit(call: Call) -> Any:
    home = call.repository
    sha = home.code.sha(call.variables["ref"])
    if sha is None:
        raise Problem(422, f"No commit found for SHA: {call.variables['ref']}", documentation_url="https://docs.github.com/rest")
    parents = home.code.told(sha)["parents"].split()
    if call.wants_diff:
        return Text(home.code.diff(parents[0], sha) if parents else "", "application/vnd.github.v3.diff; charset=utf-8")
    files = home.code.files(parents[0], sha) if parents else []
    size, at = int(call.query.get("per_page", COMPARE_FILES)), int(call.query.get("page", 1))
    told = shown.commit(home, sha) | {"files": [shown.file(file, home, sha) for file in files[(at - 1) * size : at * size]]}
    more = f"{told['url']}?per_page={size}&page={at + 1}"
    return Made(200, told, {"link": f'<{more}>; rel="next"'} if len(files) > at * size else {})


def branch(call: Call) -> Any:
    home, name = call.repository, call.variables["branch"]
    sha = home.code.sha(f"refs/heads/{name}")
    if sha is None:
        raise Problem(404, "Branch not found")
    url = f"{call.hub.api_url}/repos/{home.full_name}/branches/{name}"
    return {
        "name": name,
        "commit": shown.commit(home, sha),
        "protected": name in home.protected,
        "protection_url": f"{url}/protection",
        "_links": {"self": url, "html": f"{call.hub.server_url}/{home.full_name}/tree/{name}"},
    }


def branch_rules(call: Call) -> Any:
    """The rules that hold for a branch, of the repository and its owner; also for one that is not there yet."""
    home = call.repository
    told = {"ruleset_source_type": "Repository", "ruleset_source": home.full_name, "ruleset_id": 1}
    return Listed([{"type": kind, **told} for kind in home.rules_of(call.variables["branch"])])


def compare(call: Call) -> Any:
    """G24: 300 files and 250 commits are told."""
    home = call.repository
    left, dots, right = call.variables["basehead"].partition("...")
    base, head = (home.code.sha(name.rpartition(":")[2]) for name in (left, right))
    if not (dots and base and head):
        raise not_found()
    start = home.code.merge_base(base, head)
    if start is None:
        raise Problem(404, f"No common ancestor between {left} and {right}.")
    if call.wants_diff:
        return Text(home.code.diff(start, head), "application/vnd.github.v3.diff; charset=utf-8")
    ahead, behind = home.code.log(base, head), home.code.log(head, base)
    state = "identical" if base == head else "diverged" if ahead and behind else "ahead" if ahead else "behind"
    return {
        "status": state,
        "ahead_by": len(ahead),
        "behind_by": len(behind),
        "total_commits": len(ahead),
        "base_commit": shown.commit(home, base),
        "merge_base_commit": shown.commit(home, start),
        "commits": [shown.commit(home, sha) for sha in ahead[-COMPARE_COMMITS:]],
        "files": [shown.file(file, home, head) for file in home.code.files(start, head)[:COMPARE_FILES]],
    }


def ref(call: Call, name: str, sha: str) -> dict[str, Any]:
    return {
        "ref": name,
        "node_id": f"REF_{name}",
        "url": f"{call.hub.api_url}/repos/{call.repository.full_name}/git/{name}",
        "object": {"type": "commit", "sha": sha, "url": ""},
    }


def get_ref(call: Call) -> Any:
    name = f"refs/{call.variables['ref']}"
    sha = call.repository.code.sha(name)
    if sha is None:
        raise not_found()
    return ref(call, name, sha)


def create_ref(call: Call) -> Any:
    code, name, sha = call.repository.code, call.body["ref"], call.body["sha"]
    if not name.startswith("refs/") or name.count("/") < 2:
        raise Problem(422, "Reference name must start with 'refs/' and have at least two slashes")
    if code.run("check-ref-format", "--print", name, check=False) == b"":
        raise Problem(422, f"{name} is not a valid ref name.")
    if code.sha(name):
        raise Problem(422, "Reference already exists")
    if code.kind(sha) != "commit":
        raise Problem(422, "Object does not exist")
    if why := guards.violations(call.repository, name.removeprefix("refs/heads/"), guards.AGAINST_NAMES):
        raise Problem(422, why)
    code.run("update-ref", name, sha, check=False)
    if code.sha(name) != sha:  # a branch of that name has another below it
        raise Problem(422, "Reference update failed")
    return Made(201, ref(call, name, sha))


def update_ref(call: Call) -> Any:
    """G21."""
    code, name, sha = call.repository.code, f"refs/{call.variables['ref']}", call.body["sha"]
    now = code.sha(name)
    if now is None:
        raise Problem(422, "Reference does not exist")
    if code.kind(sha) != "commit":
        raise Problem(422, "Object does not exist")
    if not call.body.get("force", False) and code.merge_base(now, sha) != now:
        raise Problem(422, "Update is not a fast forward")
    code.git("update-ref", name, sha)
    call.hub.follow_heads(call.repository)
    return ref(call, name, sha)


def git_commit(call: Call, sha: str) -> dict[str, Any]:
    whole = shown.commit(call.repository, sha)
    inner = whole["commit"]
    return {key: whole[key] for key in ("sha", "node_id", "url", "html_url", "parents")} | {
        key: inner[key] for key in ("author", "committer", "message", "tree")
    }


def get_commit(call: Call) -> Any:
    if call.repository.code.kind(call.variables["commit_sha"]) != "commit":
        raise not_found()
    return git_commit(call, call.variables["commit_sha"])


def create_commit(call: Call) -> Any:
    code, body = call.repository.code, call.body
    if code.kind(body["tree"]) != "tree" or any(code.kind(parent) != "commit" for parent in body.get("parents", ())):
        raise Problem(422, "Tree SHA does not exist")
    author = {
        "name": call.actor.login,
        "email": f"{call.actor.id}+{call.actor.login}@users.noreply.github.com",
        **body.get("author", {}),
    }
    parents = [word for parent in body.get("parents", ()) for word in ("-p", parent)]
    person = ("-c", f"user.name={author['name']}", "-c", f"user.email={author['email']}")
    return Made(
        201,
        git_commit(
            call, code.run(*person, "commit-tree", body["tree"], *parents, stdin=body["message"].encode()).decode().strip()
        ),
    )


def create_blob(call: Call) -> Any:
    text = call.body["content"]
    try:
        raw = base64.b64decode(text, validate=True) if call.body.get("encoding") == "base64" else text.encode()
    except binascii.Error:
        raise Problem(422, "content is not valid Base64") from None
    return Made(201, {"sha": call.repository.code.run("hash-object", "-w", "--stdin", stdin=raw).decode().strip(), "url": ""})


def get_blob(call: Call) -> Any:
    code, sha = call.repository.code, call.variables["file_sha"]
    if code.kind(sha) != "blob":
        raise not_found()
    raw = code.run("cat-file", "blob", sha)
    return {
        "sha": sha,
        "node_id": f"B_{sha}",
        "size": len(raw),
        "url": "",
        "encoding": "base64",
        "content": base64.encodebytes(raw).decode(),
    }


def tree(call: Call, sha: str, *, recursive: bool = False) -> dict[str, Any]:
    entries = call.repository.code.tree(sha, recursive=recursive)
    told = [{"path": path, "mode": mode, "type": kind, "sha": blob, "url": ""} for mode, kind, blob, path in entries]
    return {"sha": sha, "url": "", "truncated": False, "tree": told}


def get_tree(call: Call) -> Any:
    code = call.repository.code
    name = call.variables["tree_sha"]
    if code.kind(f"{name}^{{tree}}") != "tree":
        raise not_found()
    return tree(call, code.git("rev-parse", f"{name}^{{tree}}"), recursive="recursive" in call.query)


def create_tree(call: Call) -> Any:
    """Entries over ``base_tree``; a null ``sha`` takes one away."""
    code, body = call.repository.code, call.body
    kept = (
        {path: (mode, kind, blob) for mode, kind, blob, path in code.tree(body["base_tree"], recursive=True) if kind != "tree"}
        if body.get("base_tree")
        else {}
    )
    for told in body["tree"]:
        if "sha" in told and told["sha"] is None:
            kept.pop(told["path"], None)
            continue
        blob = told.get("sha") or code.run("hash-object", "-w", "--stdin", stdin=told["content"].encode()).decode().strip()
        kept[told["path"]] = (told.get("mode", "100644"), told.get("type", "blob"), blob)
    return Made(201, tree(call, written(call, kept)))


def written(call: Call, kept: dict[str, tuple[str, str, str]]) -> str:
    """A tree with these files, written folder by folder."""
    lines, folders = [], dict[str, dict[str, tuple[str, str, str]]]()
    for path, told in kept.items():
        head, slash, rest = path.partition("/")
        if slash:
            folders.setdefault(head, {})[rest] = told
        else:
            lines.append(f"{told[0]} {told[1]} {told[2]}\t{path}")
    lines += [f"040000 tree {written(call, inside)}\t{name}" for name, inside in folders.items()]
    return call.repository.code.run("mktree", "-z", stdin="".join(f"{line}\0" for line in lines).encode()).decode().strip()


OPERATIONS = {
    "repos/get-content": content,
    "repos/get-branch": branch,
    "repos/get-branch-rules": branch_rules,
    "repos/get-commit": commit,
    "repos/compare-commits-with-basehead": compare,
    "git/get-ref": get_ref,
    "git/create-ref": create_ref,
    "git/update-ref": update_ref,
    "git/get-commit": get_commit,
    "git/create-commit": create_commit,
    "git/create-blob": create_blob,
    "git/get-blob": get_blob,
    "git/get-tree": get_tree,
    "git/create-tree": create_tree,
}
