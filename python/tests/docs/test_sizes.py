"""Classes and methods of the Scala code are small.

The fields of a class are counted in its source: its values, and the parameters of its constructor that are values or
that a method names. Data has as many fields as it needs, so case classes are left out.
"""

import re
from collections.abc import Iterator
from itertools import takewhile

from test_rooms import NO_CODE, sources

MOST_FIELDS = 10
MOST_LINES = 45
WORDS = r"(?:@\w+ )*(?:(?:private|protected|override|final|sealed|abstract|implicit|lazy)(?:\[\w+\])? )*"
# A final value that is a literal is a constant, and no field.
VALUE = re.compile(rf"{WORDS}(?:(?<!final )val|(?<=final )val(?! \w+ = [\d\"-])|var) (\w+|\(.*?\) =)")
PARAMETER = re.compile(r"[(,]\s*((?:@\w+ )*(?:\w+(?:\[\w+\])? )*)(\w+): ")


def blocks(lines: list[str], start: str) -> Iterator[tuple[str, list[str]]]:
    """What each line begins with that matches, and the lines of its block: those further right, and what closes it."""
    for i, line in enumerate(lines):
        if begin := re.match(rf"( *){WORDS}{start}", line):
            inside = re.compile(rf"\s*$|{begin[1]}[ )}}]")
            yield begin[0], [line, *takewhile(inside.match, lines[i + 1 :])]


def fields(lines: list[str]) -> list[str]:
    """The names of a class's fields. A pattern of several values keeps a tuple too."""
    members = [line[len(lines[0]) - len(lines[0].lstrip()) + 2 :] for line in lines]
    values = [m[1] for line in members if (m := VALUE.match(line))]
    header, _, parent = "\n".join(lines).partition("{\n")[0].partition(" extends ")
    methods = "\n".join("\n".join(of) for first, of in blocks(members, "(?:def|lazy val|import) ") if first[0] != " ")
    # The superclass keeps what it is given.
    parameters = [
        name
        for words, name in PARAMETER.findall(header)
        if re.search(r"va[lr] $", words)
        or (re.search(rf"(?<!\.)\b{name}\b", methods) and not re.search(rf"\b{name}\b", parent))
    ]
    return parameters + [name for text in values for name in re.findall(r"\w+|=", text)]


def found(start: str) -> Iterator[tuple[str, list[str]]]:
    """Where something begins in the code, and its lines, without texts and comments."""
    for path in sources():
        if path.suffix == ".scala":
            lines = NO_CODE.sub(lambda m: "\n" * m[0].count("\n") or '""', path.read_text()).split("\n")
            yield from ((f"{path.stem}: {first.strip()}", of) for first, of in blocks(lines, start))


def test_a_class_has_few_fields() -> None:
    classes = {name: fields(lines) for name, lines in found(r"class \w+")}
    assert len(classes) > 300
    assert {name: of for name, of in classes.items() if len(of) > MOST_FIELDS} == {}


def test_a_method_is_short() -> None:
    methods = [(name, len("\n".join(lines).rstrip().split("\n"))) for name, lines in found(r"def \S+?\b")]
    assert len(methods) > 3000
    assert [method for method in methods if method[1] > MOST_LINES] == []


def test_fields_are_found() -> None:
    body = ["  private val (d, e) = f(1)", "  private final val G = 1", "  def h: Int = a + c"]
    assert fields(["final class A(a: Int, val b: Int, c: Int) extends B(c) {", *body, "}"]) == ["a", "b", "d", "e", "="]
