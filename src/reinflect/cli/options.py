"""Options that several commands share."""

import click

from reinflect.data.items import COLUMNS_2017, Columns


def _columns(_context: click.Context, _option: click.Parameter, value: str) -> Columns:
    return Columns.parse(value)


columns_option = click.option(
    "--columns",
    metavar="ORDER",
    default=str(COLUMNS_2017),
    show_default=True,
    callback=_columns,
    help="Order of the tab-separated columns; data of 2023 and later is lemma,features,form.",
)
