"""A package that is missing is named, with how to install it."""

from __future__ import annotations

import pytest

from core.errors import InputError
from server.packages import need_packages, need_server_packages, need_tracing_packages


@pytest.mark.parametrize("name", ["no_such_package", "no_such_package.within", "json.no_such_module"])
def test_a_missing_package_is_named(name: str) -> None:
    with pytest.raises(InputError, match=name) as caught:
        need_packages("The service", "server", "json", name)
    assert caught.value.hint == "pip install 'citewell[server]'"


def test_nothing_is_missing_here() -> None:
    need_server_packages()
    need_tracing_packages()
