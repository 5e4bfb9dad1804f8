"""Claims in files: the last one of each thread, of all processes."""

import threading
from pathlib import Path
from uuid import uuid4

from shared.guard.claims import KEPT_MARKS, LENGTH, RECENT_MARKS, Claim, Claims

HERE, THERE = uuid4(), uuid4()


def claim(mark: int, epoch: int = 1) -> Claim:
    return Claim(HERE, mark, uuid4(), epoch)


def test_the_last_claim_of_each_thread_is_read_by_others(tmp_path: Path) -> None:
    notes = tmp_path / "mark.json"
    claims, first, last, other = Claims(notes), claim(100), claim(101, epoch=2**31 - 1), claim(100)
    claims.write(first)
    claims.write(last)
    thread = threading.Thread(target=claims.write, args=[other])
    thread.start()
    thread.join()
    assert sorted(Claims(notes).recent(HERE, 101)) == sorted([last, other])
    assert Claims(notes).recent(THERE, 101) == []
    assert Claims(notes).recent(HERE, 100 + RECENT_MARKS) == [*Claims(notes).recent(HERE, 100)]
    assert Claims(notes).recent(HERE, 102 + RECENT_MARKS) == []


def test_records_that_were_never_written_are_skipped(tmp_path: Path) -> None:
    notes = tmp_path / "mark.json"
    written = claim(7)
    Claims(notes).write(written)
    (file,) = tmp_path.iterdir()
    file.with_name("mark.json.claims.elsewhere.1").write_bytes(bytes(LENGTH) + file.read_bytes() + b"cut off")
    assert Claims(notes).recent(HERE, 7) == [written, written]


def test_files_are_deleted_when_they_are_old_or_on_request(tmp_path: Path) -> None:
    notes = tmp_path / "mark.json"
    claims = Claims(notes)
    claims.write(claim(1))
    claims.forget_old(HERE, KEPT_MARKS)
    claims.forget_old(THERE, 2 * KEPT_MARKS)
    assert len(list(tmp_path.iterdir())) == 1
    claims.forget_old(HERE, KEPT_MARKS + 2)
    assert list(tmp_path.iterdir()) == []
    claims.write(claim(1))
    claims.forget()
    assert list(tmp_path.iterdir()) == []
