"""What a wrong argument is answered."""

import pytest

from cli.conftest import Run


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["stat", "."], "unknown command 'stat': did you mean 'stats'?"),
        (["quux"], "unknown command 'quux'; commands are ls, stats, "),
        (["transcode", "a", "b", "--codec", "zst"], "'zst' is not a codec: did you mean 'zstd'?"),
        (["dump", ".", "--columns", "ofset"], "unknown name 'ofset': did you mean 'offset'?"),
        (["dump", ".", "--columns", "xyz"], "unknown name 'xyz'; accepted are topic, partition, offset, "),
        (["dump", ".", "--offset", "10-20"], "'10-20' is not a range: 10..20 is one"),
        (["dump", ".", "--offset", "10:20"], "'10:20' is not a range: 10..20 is one"),
        (["dump", ".", "--time", "2015-05-17-2015-05-18"], "is not a range: 2015-05-17..2015-05-18 is one"),
        (["verify", ".", "--chek", "record"], "No such option '--chek'. (Did you mean one of: '--check', '--help'?)"),
    ],
)
def test_a_near_miss_is_answered_with_what_was_meant(run: Run, arguments: list[str], message: str) -> None:
    done = run(*arguments)
    assert done.status == 2 and message in done.err
