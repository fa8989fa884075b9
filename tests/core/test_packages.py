"""A package that is missing is named, with how to install it."""

from __future__ import annotations

import pytest

from citewell.core.errors import InputError
from citewell.core.packages import need_packages


@pytest.mark.parametrize("name", ["nosuchpackage", "nosuchpackage.within", "json.nosuchmodule"])
def test_a_missing_package_is_named(name: str) -> None:
    with pytest.raises(InputError, match=f"The service needs the package {name}") as caught:
        need_packages("The service", "server", "json", name)
    assert caught.value.hint == "pip install 'citewell[server]'"


def test_a_package_is_named_as_it_is_installed() -> None:
    with pytest.raises(InputError, match="the package no-such-package,"):
        need_packages("Training", "train", "no_such_package")
