"""Options that several commands share."""

import click

from reinflect.data.items import COLUMNS_2017, Columns
from reinflect.errors import InputError


class ColumnsType(click.ParamType):
    name = "ORDER"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> Columns:
        if isinstance(value, Columns):
            return value
        try:
            return Columns.parse(str(value))
        except InputError as error:
            self.fail(str(error), param, ctx)


columns_option = click.option(
    "--columns",
    type=ColumnsType(),
    default=COLUMNS_2017,
    show_default=str(COLUMNS_2017),
    help="Order of the tab-separated columns; 2023 and later data is lemma,features,form.",
)
