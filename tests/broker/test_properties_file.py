"""Java's .properties files: the rules of java.util.Properties.load, each with a line."""

import pytest

import recordpress
from recordpress.broker._properties import read_properties


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", {}),
        ("# log.dirs=/a\n  ! log.dirs=/b\n\n", {}),
        ("a=1\nb:2\nc 3\nd\t=\t4\ne", {"a": "1", "b": "2", "c": "3", "d": "4", "e": ""}),
        ("a = b = c", {"a": "b = c"}),
        ("a=1 \r\nb=2\r", {"a": "1 ", "b": "2"}),
        ("a=1\na=2", {"a": "2"}),
        ("a=one, \\\n    two,\\\n# three", {"a": "one, two,# three"}),
        ("a=even\\\\\nb=2", {"a": "even\\", "b": "2"}),
        ("a=ends\\", {"a": "ends"}),
        ("a\\=b\\:c\\ d=e", {"a=b:c d": "e"}),
        ("a=\\u00e4\\tb\\zc", {"a": "ä\tbzc"}),
        ("=x", {"": "x"}),
    ],
)
def test_lines(text: str, expected: dict[str, str]) -> None:
    assert read_properties(text) == expected


@pytest.mark.parametrize("text", ["a=\\u12", "a=\\u12g4", "a=\\u"])
def test_an_escape_that_is_none(text: str) -> None:
    with pytest.raises(recordpress.InvalidArgumentError, match=r"line 2: .*four hexadecimal digits") as caught:
        read_properties("\n" + text, "server.properties")
    assert caught.value.file == "server.properties"
