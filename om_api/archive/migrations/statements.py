"""The statements of a version, from its file for one kind of database."""

from importlib.resources import files


def statements(version: str, dialect: str) -> list[str]:
    """In order; a blank line stands between two."""
    text = files("om_api.archive.migrations.versions").joinpath(f"v{version}.{dialect}.sql").read_text("utf-8")
    return [statement for statement in text.split("\n\n") if statement.strip()]
