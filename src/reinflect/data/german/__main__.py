"""Writes the files of the bundled German splits again: `python -m reinflect.data.german`."""

from pathlib import Path

import click

from reinflect.data.german import split_file_name
from reinflect.data.german.splits import draw_splits
from reinflect.data.items import write_items
from reinflect.errors import ReinflectError
from reinflect.files import check_writable


@click.command(epilog="Example: python -m reinflect.data.german --folder .")
@click.option(
    "--folder",
    type=click.Path(path_type=Path),
    default=Path(__file__).parent,
    help="Folder to write the files to; by default they replace those of the package.",
)
def main(folder: Path) -> None:
    """Write the bundled German splits again from the verbs' principal parts."""
    try:
        splits = {folder / split_file_name(name): items for name, items in draw_splits().items()}
        for path in splits:
            check_writable(path)
        for path, items in splits.items():
            write_items(path, items)
            click.echo(f"{path}: {len(items)} items", err=True)
    except ReinflectError as error:
        click.echo(f"reinflect.data.german: {error}", err=True)
        raise SystemExit(2) from None


if __name__ == "__main__":
    main(prog_name="python -m reinflect.data.german")
