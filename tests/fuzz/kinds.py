"""All kinds of input."""

from tests.fuzz import api_requests, commands, item_files, model_files, other_files

KINDS = {
    kind.name: kind
    for kind in (
        *item_files.TEXTS,
        *item_files.MORE,
        *model_files.MODELS,
        *api_requests.REQUESTS,
        *other_files.OTHERS,
        *commands.COMMANDS,
    )
}
