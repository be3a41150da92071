"""What can go wrong on the Python side; all else is raised by Spark."""


class NoJarError(RuntimeError):
    """This package carries no jar for the Spark that was asked for, or there is no Spark to ask."""


class NoExtensionError(RuntimeError):
    """The session was started without the extension."""


class ToolError(RuntimeError):
    """A command of `python -m spark_zorder` cannot be run here."""
