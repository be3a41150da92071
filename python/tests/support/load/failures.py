"""The documented failures. Any other failure fails the run."""

GONE = "FAILED_READ_FILE.FILE_NOT_EXIST"
"""A query listed its files before an exchange and opened them after it."""

REOPENED = "FAILED_READ_FILE.NO_HINT"
"""The same while a file was read: readers of a local disk open a file again by its name."""

OF_ANY_QUERY = {
    GONE: "docs/commit-modes.md: a query listed its files before an exchange and opened them after it",
    REOPENED: "docs/commit-modes.md: the same, and the file was open already (its cause says that it is gone)",
}

OF_PATTERNS = OF_ANY_QUERY | {
    "ZORDER_FILES_REPLACED": "docs/commit-modes.md: a DataFrame by a pattern, after a VACUUM",
    "ZORDER_HALF_PUBLISHED": "docs/commit-modes.md: a pattern, during an exchange that did not end in time",
}

OF_ANY_STATEMENT = {"ZORDER_CONCURRENT_OPERATION": "another operation held the table's lock"}

OF_OPTIMIZE = OF_ANY_STATEMENT | {
    "ZORDER_COMMIT_CONFLICT": "another operation replaced files between two commits of partial progress"
}

OF_RESTORE = OF_ANY_STATEMENT | {
    "ZORDER_CANNOT_RESTORE.FILES_GONE": "docs/statements/restore.md: a VACUUM deleted files of that version"
}

OF_REFRESH = OF_ANY_STATEMENT | {"ZORDER_INDEX_NOT_FOUND": "the table had no statistics yet"}

DOCUMENTED = OF_PATTERNS | OF_OPTIMIZE | OF_RESTORE | OF_REFRESH
"""All of them, with their meaning."""


def is_of_query(condition: str, message: str, way: str) -> bool:
    """Whether a query may fail like this, by the way it names the table."""
    if condition == REOPENED:
        return "NoSuchFileException" in message or "FileNotFoundException" in message
    return condition in (OF_PATTERNS if way == "pattern" else OF_ANY_QUERY)


def of_statement(kind: str) -> dict[str, str]:
    """The errors that a statement may end with."""
    if kind.startswith("OPTIMIZE"):
        return OF_OPTIMIZE
    return {"INSERT": {}, "RESTORE": OF_RESTORE, "REFRESH": OF_REFRESH}.get(kind, OF_ANY_STATEMENT)
