"""Commits, branches and pull requests on the fake GitHub, and what can be known of them before and after."""

from __future__ import annotations

import subprocess

import pytest

from reviewbot.adapters.github import Hub as Client
from reviewbot.adapters.github import Token, commits
from reviewbot.domain.action import DeleteBranch, Done, MakeBranch, MakeCommit, OpenPull
from reviewbot.domain.forge import Touched
from reviewbot.domain.repair import Edit
from reviewbot.errors import ForgeError, GoneError, InvalidError, NotPermittedError, StaleError
from tests.forge.hub import Hub, Pull, Repository
from tests.forge.scripted import opened

pytestmark = pytest.mark.matrix(parts=1)

WRITER = {"contents": "write", "pull_requests": "write", "metadata": "read"}
NUMBERS = "".join(f"line {n}\n" for n in range(1, 41))


def client(hub: Hub, *, repository: str = "octo/app", **token: object):
    """Who may write code, as an app."""
    return opened(hub.api_url, credential=Token(writer(hub, **token)), repository=repository)


def writer(hub: Hub, **told: object) -> str:
    return hub.token(**{"login": "reviewbot[bot]", "permissions": WRITER, **told})  # type: ignore[arg-type]


def commit(head: str, *edits: Edit, branch: str = "topic", body: str = "Reviewbot-Finding: f1") -> MakeCommit:
    return MakeCommit(branch, head, "Mend a.py", body, edits or (Edit("b.py", b"x = 2\n"),))


def refused(client: Client, action: MakeCommit | MakeBranch | OpenPull | DeleteBranch, kind: type[ForgeError]) -> ForgeError:
    with pytest.raises(ForgeError) as failed:
        client.do(action)
    assert type(failed.value) is kind, failed.value
    return failed.value


def test_a_commit_is_one_on_top_of_the_head_and_github_vouches_for_it(hub: Hub, repository: Repository, pull: Pull):
    old = pull.head_sha
    with client(hub) as made:
        done = made.do(commit(old, Edit("b.py", b"x = 2\n"), Edit("new/c.py", b"c\r\n\xff\x00")))
        head = made.head("topic")
        standing = made.standing(pull.number)
    assert done == Done(url=f"{hub.server_url}/octo/app/commit/{pull.head_sha}", sha=pull.head_sha)
    assert head is not None
    assert (head.sha, head.parents, head.author, head.is_vouched) == (done.sha, (old,), "reviewbot[bot]", True)
    assert head.message == "Mend a.py\n\nReviewbot-Finding: f1"
    assert (standing.pull.head_sha, standing.commits[-1]) == (done.sha, head)
    assert [told.is_vouched for told in standing.commits] == [False, True]
    assert repository.code.blob(done.sha, "new/c.py") == b"c\r\n\xff\x00"
    assert repository.code.blob(done.sha, "b.py") == b"x = 2\n"
    assert repository.code.blob(done.sha, "a.py") == repository.code.blob(old, "a.py")
    assert hub.writes() == ["graphql:createCommitOnBranch"]


def test_a_file_goes(hub: Hub, repository: Repository, pull: Pull):
    with client(hub) as made:
        done = made.do(commit(pull.head_sha, Edit("b.py", None)))
    assert repository.code.entry(done.sha, "b.py") is None


@pytest.mark.parametrize(
    "path", ['say "hi".py', "a b/ü.py", "back\\slash.py", "new\nline.py", "tab\t.py", "-n", ":(top)x", "~", "ﬁ.py"]
)
def test_names_that_are_odd_and_no_more_are_written(hub: Hub, repository: Repository, pull: Pull, path: str):
    with client(hub) as made:
        first = made.do(commit(pull.head_sha, Edit(path, b"1\n")))
        second = made.do(commit(first.sha, Edit(path, b"2\n")))
        assert made.touched(second.sha, second.sha)[0].path == path
    assert repository.code.blob(second.sha, path) == b"2\n"


def test_a_file_that_can_be_executed_stays_one_and_a_new_one_cannot(hub: Hub, repository: Repository):
    head = repository.commit("scripts", {"run.sh": "echo 1\n"}, modes={"run.sh": "100755"})
    with client(hub) as made:
        done = made.do(commit(head, Edit("run.sh", b"echo 2\n"), Edit("new.sh", b"echo 3\n"), branch="scripts"))
    modes = {path: (repository.code.entry(done.sha, path) or ("",))[0] for path in ("run.sh", "new.sh")}
    assert modes == {"run.sh": "100755", "new.sh": "100644"}


def test_a_branch_that_moved_gets_no_commit(hub: Hub, repository: Repository, pull: Pull):
    old = pull.head_sha
    now = pull.push({"b.py": "x = 3\n"})
    with client(hub) as made:
        refused(made, commit(old), StaleError)
        hub.faults.append(meanwhile_pushed(pull))
        refused(made, commit(now), StaleError)
    assert hub.writes() == ["graphql:createCommitOnBranch"] * 2, "GitHub answers 200 to what it refuses"
    assert repository.git_text(pull.head_sha, "b.py") == "x = 4\n"


def meanwhile_pushed(pull: Pull):
    """Somebody pushes between the look and the commit."""
    from tests.forge.hub import faults

    return faults.meanwhile("graphql:createCommitOnBranch", lambda: pull.push({"b.py": "x = 4\n"}))


def test_a_head_that_was_pushed_away_is_stale_and_so_is_one_that_never_was(hub: Hub, repository: Repository, pull: Pull):
    old = pull.head_sha
    pull.force_push({"b.py": "other\n"}, parent=repository.code.sha("refs/heads/main"))
    with client(hub) as made:
        for head in (old, "f" * 40):
            refused(made, commit(head), StaleError)
    assert repository.git_text(pull.head_sha, "b.py") == "other\n"


def test_a_branch_that_is_gone_takes_nothing(hub: Hub, repository: Repository, pull: Pull):
    head = pull.head_sha
    with client(hub) as made:
        assert made.head("nowhere") is None
        refused(made, commit(head, branch="nowhere"), GoneError)


GUARDS = ("pull_request", "update", "required_status_checks", "merge_queue", "code_scanning", "workflows")


@pytest.mark.parametrize("rule", ["", *GUARDS])
def test_a_guarded_branch_is_known_as_such_and_takes_no_commit(hub: Hub, repository: Repository, pull: Pull, rule: str):
    head = pull.head_sha
    if rule:
        repository.rule(rule, "top*")
    else:
        repository.protect("topic")
    with client(hub) as made:
        assert made.is_protected("topic") is True
        error = refused(made, commit(head), NotPermittedError)
        refused(made, DeleteBranch("topic", head), NotPermittedError)
    assert "guarded" in error.hint
    assert pull.head_sha == head


@pytest.mark.parametrize(
    "rule", ["deletion", "non_fast_forward", "required_signatures", "commit_message_pattern", "max_file_size"]
)
def test_a_rule_about_how_commits_are_made_guards_nothing(hub: Hub, repository: Repository, pull: Pull, rule: str):
    repository.rule(rule)
    repository.rule("pull_request", "main")
    with client(hub) as made:
        assert made.is_protected("topic") is False
        assert made.do(commit(pull.head_sha)).sha == pull.head_sha


def test_who_may_not_write_code_makes_nothing(hub: Hub, repository: Repository, pull: Pull):
    with client(hub, permissions={"contents": "read", "pull_requests": "read"}) as made:
        assert made.is_protected("topic") is False
        for action in (
            commit(pull.head_sha),
            MakeBranch("mend", pull.head_sha),
            DeleteBranch("topic", pull.head_sha),
            OpenPull("t", "b", "topic", "main"),
        ):
            refused(made, action, NotPermittedError)
    assert repository.code.sha("refs/heads/mend") is None


def test_a_fork_takes_nothing_from_a_token_of_another_repository(hub: Hub, repository: Repository):
    fork = repository.fork("mona/app")
    head = fork.commit("topic", {"b.py": "x = 1\n"}, author="mona")
    with client(hub, repository="mona/app", repositories=["octo/app"]) as made:
        refused(made, commit(head), NotPermittedError)
    with client(hub, repositories=["octo/app"]) as made:
        repository.commit("topic", {"b.py": "x = 1\n"})
        error = refused(made, commit(head), StaleError)
    assert head in str(error), "the fork's commit is none of this repository"
    assert fork.code.sha("refs/heads/topic") == head


def test_a_private_fork_is_nowhere(hub: Hub):
    private = hub.repository("mona/secret", private=True)
    head = private.commit("main", {"a": "1\n"})
    with client(hub, repository="mona/secret", repositories=["octo/app"]) as made:
        refused(made, commit(head, branch="main"), NotPermittedError)
        refused(made, MakeBranch("mend", head), NotPermittedError)


def test_a_workflow_is_not_changed_without_the_permission_for_it(hub: Hub, repository: Repository, pull: Pull):
    head = pull.head_sha
    edit = Edit(".github/workflows/ci.yml", b"on: push\n")
    with client(hub) as made:
        refused(made, commit(head, edit), NotPermittedError)
    assert pull.head_sha == head
    with client(hub, permissions={**WRITER, "workflows": "write"}) as made:
        assert made.do(commit(head, edit)).sha == pull.head_sha


NEVER_SENT = [
    (b"x", "caf\udce9.py"), (b"x", "/etc/passwd"), (b"x", "../x"), (b"x", "a/../b"), (b"x", "a//b"), (b"x", "a/"), (b"x", ""),
    (b"x", "./a"), (b"x", ".git/hooks/pre-commit"), (b"x", "sub/.GIT/config"), (b"x", "nul\0.py"), (None, "caf\udce9.py"),
]  # fmt: skip


@pytest.mark.parametrize(("content", "path"), NEVER_SENT)
def test_a_name_that_no_tree_has_or_json_cannot_say_is_not_asked_for(hub: Hub, pull: Pull, content: bytes | None, path: str):
    with client(hub) as made:
        error = refused(made, commit(pull.head_sha, Edit("b.py", b"x = 2\n"), Edit(path, content)), InvalidError)
    assert isinstance(error, InvalidError)
    assert error.reasons
    assert hub.calls() == 0


@pytest.mark.parametrize(
    "edits",
    [
        (),
        (Edit("b.py", b"1"), Edit("b.py", b"2")),
        (Edit("b.py", b"1"), Edit("b.py", None)),
        (Edit("c", b"1"), Edit("c/d.py", b"2")),
        (Edit("big.bin", b"x" * (commits.MOST_BYTES + 1)),),
        (Edit("big.bin", b"x" * commits.MOST_BYTES), Edit("b.py", b"1")),
    ],
    ids=["nothing", "twice", "written and gone", "below itself", "large", "large together"],
)
def test_a_commit_that_cannot_be_is_not_asked_for(hub: Hub, pull: Pull, edits: tuple[Edit, ...]):
    with client(hub) as made:
        refused(made, MakeCommit("topic", pull.head_sha, "Mend", "", edits), InvalidError)
        refused(made, MakeCommit("topic", pull.head_sha, " \n ", "", (Edit("b.py", b"1"),)), InvalidError)
        refused(made, MakeCommit("topic", pull.head_sha, "Mend", "x" * 70_000, (Edit("b.py", b"1"),)), InvalidError)
    assert hub.writes() == []


def test_a_large_commit_arrives(hub: Hub, repository: Repository, pull: Pull):
    content = bytes(range(256)) * (commits.MOST_BYTES // 256)
    with client(hub) as made:
        done = made.do(commit(pull.head_sha, Edit("big.bin", content)))
    assert repository.code.blob(done.sha, "big.bin") == content


@pytest.mark.parametrize(
    ("edit", "words"),
    [
        (Edit("folder", b"1\n"), "a folder"),
        (Edit("folder", None), "a folder"),
        (Edit("link", b"1\n"), "a symbolic link"),
        (Edit("module", b"1\n"), "a submodule"),
        (Edit("module/x", b"1\n"), "below 'module'"),
        (Edit("link/x", b"1\n"), "below 'link'"),
        (Edit("plain/x", b"1\n"), "below 'plain'"),
        (Edit("nothing", None), "where nothing is"),
        (Edit("plain", b"a\n"), "changes nothing"),
    ],
)
def test_what_is_no_file_is_left_as_it_is(hub: Hub, repository: Repository, edit: Edit, words: str):
    submodule = repository.code.sha("refs/heads/main") or ""
    head = repository.commit(
        "odd",
        {"folder/x": "1\n", "link": "/etc/passwd", "module": submodule, "plain": "a\n"},
        modes={"link": "120000", "module": "160000"},
    )
    with client(hub) as made:
        error = refused(made, commit(head, edit, branch="odd"), InvalidError)
    assert words in str(error)
    assert hub.writes() == []
    assert repository.code.sha("refs/heads/odd") == head


@pytest.mark.ci
def test_many_files_in_deep_folders_are_looked_at_by_few_questions(hub: Hub, repository: Repository, pull: Pull):
    edits = tuple(Edit(f"d{n % 7}/e{n % 3}/f{n}.py", b"%d\n" % n) for n in range(150))
    with client(hub) as made:
        done = made.do(commit(pull.head_sha, *edits))
        assert hub.calls() == 2 + 1
        assert len(made.touched(done.sha, done.sha)) == 150
    assert repository.git_text(done.sha, "d2/e2/f149.py") == "149\n"


def test_a_message_is_one_line_and_a_body(hub: Hub, pull: Pull):
    with client(hub) as made:
        made.do(MakeCommit("topic", pull.head_sha, "Mend\n\nReviewbot-Finding: forged", "", (Edit("b.py", b"1\n"),)))
        told = made.head("topic")
        assert told is not None
        assert told.message == "Mend Reviewbot-Finding: forged"
        made.do(MakeCommit("topic", told.sha, "Mend \udce9", "caf\udce9", (Edit("b.py", b"2\n"),)))
        told = made.head("topic")
    assert told is not None
    assert told.message == "Mend ?\n\ncaf?"


def test_who_says_to_be_us_is_not_vouched_for(hub: Hub, repository: Repository, pull: Pull):
    repository.commit("topic", {"b.py": "evil\n"}, "Mend\n\nReviewbot-Finding: f1", author="reviewbot[bot]")
    with client(hub) as made:
        told = made.head("topic")
        standing = made.standing(pull.number)
    assert told is not None
    assert (told.author, told.is_vouched) == ("reviewbot[bot]", False)
    assert standing.commits[-1] == told


def test_a_merge_has_all_its_parents(hub: Hub, repository: Repository, pull: Pull):
    one, other = pull.head_sha, repository.commit("main", {"z.py": "z\n"})
    tree = repository.code.git("rev-parse", f"{one}^{{tree}}")
    person = ("-c", "user.name=octocat", "-c", "user.email=o@example.org")
    merge = repository.code.run(*person, "commit-tree", tree, "-p", one, "-p", other, stdin=b"Merge").decode().strip()
    repository.code.git("update-ref", "refs/heads/topic", merge)
    with client(hub) as made:
        told = made.head("topic")
        assert told is not None
        assert told.parents == (one, other)
        with pytest.raises(InvalidError, match="2 parents"):
            made.touched(merge, merge)
        with pytest.raises(InvalidError, match="0 parents"):
            made.touched(repository.code.git("rev-list", "--max-parents=0", "main"), merge)


ODD_BRANCHES = ["a/b", "feature/ü", "100%", "a#b", "a&b=c", "x+y", "dependabot/npm_and_yarn/@types/node-1", "it's", '"q"', "@"]


@pytest.mark.parametrize("name", ODD_BRANCHES)
def test_branches_with_odd_names_are_made_written_and_taken_away(hub: Hub, repository: Repository, pull: Pull, name: str):
    with client(hub) as made:
        assert made.head(name) is None
        assert made.do(MakeBranch(name, pull.head_sha)).sha == pull.head_sha
        done = made.do(commit(pull.head_sha, branch=name))
        told = made.head(name)
        assert told is not None
        assert told.sha == done.sha == repository.code.sha(f"refs/heads/{name}")
        assert made.is_protected(name) is False
        refused(made, DeleteBranch(name, pull.head_sha), StaleError)
        made.do(DeleteBranch(name, done.sha))
        assert made.head(name) is None
        assert made.is_protected(name) is None
    assert repository.code.sha("refs/heads/topic") == pull.head_sha


@pytest.mark.parametrize("name", ["refs/heads/main", "refs/x", "", "caf\udce9"])
def test_a_name_that_could_be_another_branch_is_never_said(hub: Hub, repository: Repository, pull: Pull, name: str):
    main = repository.code.sha("refs/heads/main") or ""
    with client(hub) as made:
        for action in (
            commit(main, branch=name),
            MakeBranch(name, main),
            DeleteBranch(name, main),
            OpenPull("t", "b", name, "main"),
            OpenPull("t", "b", "topic", name),
        ):
            refused(made, action, InvalidError)
        for ask in (made.head, made.is_protected):
            with pytest.raises(InvalidError):
                ask(name)
    assert hub.calls() == 0


@pytest.mark.parametrize("name", ["a..b", "a b", "x.lock", "a~1", "topic/below"])
def test_a_name_that_git_does_not_take_is_invalid(hub: Hub, pull: Pull, name: str):
    with client(hub) as made:
        refused(made, MakeBranch(name, pull.head_sha), InvalidError)
        assert made.head("topic") is not None


def test_a_branch_that_stands_already_is_told(hub: Hub, repository: Repository, pull: Pull):
    with client(hub) as made:
        made.do(MakeBranch("mend", pull.head_sha))
        error = refused(made, MakeBranch("mend", pull.head_sha), InvalidError)
        assert isinstance(error, InvalidError)
        assert error.reasons == ("Reference already exists",)
        refused(made, MakeBranch("mend-2", "f" * 40), InvalidError)


def test_a_rule_may_forbid_new_branches(hub: Hub, repository: Repository, pull: Pull):
    repository.rule("creation", "mend*")
    with client(hub) as made:
        error = refused(made, MakeBranch("mend", pull.head_sha), NotPermittedError)
        assert "creations being restricted" in str(error)
        made.do(MakeBranch("other", pull.head_sha))


def test_a_stacked_pull_request_is_opened_once(hub: Hub, repository: Repository, pull: Pull):
    with client(hub) as made:
        made.do(MakeBranch("mend", pull.head_sha))
        stack = OpenPull("Mend topic", "For #1", "mend", "topic")
        error = refused(made, stack, InvalidError)
        assert isinstance(error, InvalidError)
        assert error.reasons == ("No commits between topic and mend",)
        done = made.do(commit(pull.head_sha, branch="mend"))
        assert made.pull_of("octo/app", "mend", done.sha) is None
        opened_now = made.do(stack)
        error = refused(made, stack, InvalidError)
        assert "A pull request already exists for octo:mend." in str(error)
        assert made.pull_of("octo/app", "mend", done.sha) == opened_now.id == 2
        standing = made.standing(opened_now.id)
    assert opened_now.url == f"{hub.server_url}/octo/app/pull/2"
    assert (standing.pull.title, standing.pull.body, standing.pull.base_ref) == ("Mend topic", "For #1", "topic")
    assert standing.pull.author is not None
    assert standing.pull.author.login == "reviewbot[bot]"
    assert [told.sha for told in standing.commits] == [done.sha]


def test_actions_may_open_pull_requests_only_where_that_is_allowed(hub: Hub, repository: Repository, pull: Pull):
    with client(hub, login="github-actions[bot]") as made:
        made.do(MakeBranch("mend", pull.head_sha))
        made.do(commit(pull.head_sha, branch="mend"))
        error = refused(made, OpenPull("t", "b", "mend", "topic"), NotPermittedError)
        assert "settings" in error.hint
        repository.actions_may_approve = True
        assert made.do(OpenPull("t", "b", "mend", "topic")).id == 2


@pytest.mark.parametrize(("head", "base"), [("nowhere", "topic"), ("topic", "nowhere")])
def test_a_pull_request_from_or_to_nowhere_is_invalid(hub: Hub, pull: Pull, head: str, base: str):
    with client(hub) as made:
        refused(made, OpenPull("t", "b", head, base), InvalidError)


def test_what_a_commit_did_can_be_taken_back_while_it_holds(hub: Hub, repository: Repository, pull: Pull):
    old = pull.head_sha
    with client(hub) as made:
        ours = made.do(commit(old, Edit("a.py", b"mended\n"), Edit("b.py", None), Edit("d/c.py", b"new\n"))).sha
        pull.push({"README.md": "Another file\n"})
        touched = made.touched(ours, pull.head_sha)
        assert [(told.path, told.is_intact, told.is_taken_back) for told in touched] == [
            ("a.py", True, False),
            ("b.py", True, False),
            ("d/c.py", True, False),
        ]
        back = tuple(Edit(told.path, None if told.before is None else made.blob(told.before)) for told in touched)
        undone = made.do(commit(pull.head_sha, *back)).sha
        assert all(told.is_taken_back for told in made.touched(ours, undone))
        assert all(told.is_intact for told in made.touched(undone, undone))
    assert repository.git_text(undone, "a.py") == repository.git_text(old, "a.py")
    assert repository.git_text(undone, "b.py") == repository.git_text(old, "b.py")
    assert repository.code.entry(undone, "d/c.py") is None
    assert repository.git_text(undone, "README.md") == "Another file\n"


def test_a_file_that_somebody_changed_since_is_neither_ours_nor_taken_back(hub: Hub, repository: Repository, pull: Pull):
    with client(hub) as made:
        ours = made.do(commit(pull.head_sha, Edit("b.py", b"mended\n"))).sha
        pull.push({"b.py": "mended otherwise\n"})
        (told,) = made.touched(ours, pull.head_sha)
        assert (told.is_intact, told.is_taken_back) == (False, False)
        pull.push({"b.py": None})
        assert made.touched(ours, pull.head_sha)[0].now is None
        pull.push({"b.py": "x = 1\ny = 2\n"})
        assert made.touched(ours, pull.head_sha)[0].is_taken_back


def test_a_file_that_moved_is_told_under_both_names(hub: Hub, repository: Repository):
    repository.commit("move", {"old.py": NUMBERS})
    sha = repository.commit("move", {"old.py": None, "new.py": NUMBERS}, "Move")
    blob = repository.code.git("rev-parse", f"{sha}:new.py")
    with client(hub) as made:
        assert made.touched(sha, sha) == (Touched("new.py", None, blob, blob), Touched("old.py", blob, None, None))
        assert made.blob(blob) == NUMBERS.encode()
        with pytest.raises(GoneError):
            made.blob("f" * 40)
        with pytest.raises(StaleError):
            made.touched(sha, "f" * 40)


@pytest.mark.ci
def test_a_commit_of_many_files_is_read_page_by_page(hub: Hub, repository: Repository):
    sha = repository.commit("many", {f"f{n:03}.txt": f"{n}\n" for n in range(230)})
    with client(hub) as made:
        touched = made.touched(sha, sha)
    assert [told.path for told in touched] == [f"f{n:03}.txt" for n in range(230)]
    assert all(told.before is None and told.is_intact for told in touched)


def test_the_fake_s_repository_is_sound_after_all_that(hub: Hub, repository: Repository, pull: Pull):
    with client(hub) as made:
        done = made.do(commit(pull.head_sha, Edit("x/y.py", b"1\n"), Edit("b.py", None)))
    checked = subprocess.run(["git", "fsck", "--strict"], cwd=repository.git, capture_output=True, check=False)
    assert checked.returncode == 0, checked.stderr
    assert repository.code.told(done.sha)["committer"] == "GitHub"
