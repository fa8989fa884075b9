"""Who may read a collection: seen and changed by its owner."""

from __future__ import annotations

from litestar import get, put
from litestar.di import NamedDependency
from litestar.params import FromPath, JSONBody

from citewell.server.access.readers import Readers
from citewell.server.api.documented import problems
from citewell.server.api.one_collection import check_existence
from citewell.server.api.schemas import ReaderList
from citewell.server.services import Services
from citewell.server.work.sharing import check_readers, check_shareable


@get(
    "/v1/collections/{name:str}/readers",
    opt={"scope": "admin"},
    summary="Read who may read a collection",
    responses=problems(404),
    tags=["collections"],
)
async def get_readers(services: NamedDependency[Services], name: FromPath[str]) -> ReaderList:
    """The names of the keys and accounts that may read a collection; without any, everyone may."""
    await check_existence(services, name)
    return _listed(await services.shared.readers(name))


@put(
    "/v1/collections/{name:str}/readers",
    opt={"scope": "admin"},
    summary="Choose who may read a collection",
    responses=problems(404, body=True),
    tags=["collections"],
)
async def put_readers(
    services: NamedDependency[Services], name: FromPath[str], data: JSONBody[ReaderList]
) -> ReaderList:
    """Let only these keys and accounts read a collection, or, with empty lists, everyone who may ask.

    To others it does not exist. Keys and accounts with the scope `admin` read all collections.
    """
    await check_existence(services, name)
    check_shareable(name)
    readers = Readers(frozenset(data.keys), frozenset(data.accounts))
    before, keys = await services.shared.readers(name), await services.store.get().keys.list()
    check_readers(readers, before, keys, services.settings.server.accounts)
    await services.shared.share(name, readers)
    return _listed(readers)


def _listed(readers: Readers) -> ReaderList:
    return ReaderList(sorted(readers.keys), sorted(readers.accounts))
