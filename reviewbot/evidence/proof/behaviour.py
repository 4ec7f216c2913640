from reviewbot.evidence.proof.method import Ground, Procedure, Unfit


def conduct(ground: Ground) -> Procedure:
    raise Unfit("not yet")
    yield ()
