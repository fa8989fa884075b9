"""The settings say where a value comes from, and what is wrong with it when something is."""

from __future__ import annotations

import os
from ipaddress import ip_network
from pathlib import Path
from typing import Any

import pytest

from citewell.core.collection_flag import with_collection
from citewell.core.errors import SettingsError
from citewell.core.profiles import PROFILES, profile_settings
from citewell.core.settings import load_settings, setting_names


@pytest.fixture(autouse=True)
def clean(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """An empty working directory, and no variable of ours."""
    for variable in os.environ:
        if variable.upper().startswith("CITEWELL_"):
            monkeypatch.delenv(variable)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(folder: Path, text: str, name: str = "citewell.toml") -> Path:
    file = folder / name
    file.write_text(text, encoding="utf-8")
    return file


def test_everything_has_a_default_and_a_description() -> None:
    settings = load_settings()
    assert settings.retriever.k == 5
    assert settings.generator.name == "auto"
    assert settings.fetch.allow_networks == ()
    names = setting_names()
    assert {"fetch.deadline", "retriever.k", "cache_dir"} <= set(names)
    assert [key for key, description in names.items() if not description] == []


def test_folders_may_be_in_the_home_folder_and_are_never_empty(
    clean: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(clean / "home"))
    usual = load_settings()
    write(clean, 'data_dir = "~/notes"\ncache_dir = "~/cache"\ndata = "~/data"\n')
    found = load_settings()
    assert (found.data_dir, found.cache_dir) == (clean / "home" / "notes", clean / "home" / "cache")
    assert found.data == clean / "home" / "data"
    for name in ("DATA", "DATA_DIR", "CACHE_DIR"):
        monkeypatch.setenv(f"CITEWELL_{name}", "")
    empty = load_settings()
    assert (empty.data, empty.data_dir, empty.cache_dir) == (None, usual.data_dir, usual.cache_dir)
    with pytest.raises(SettingsError, match="data_dir"):
        load_settings({"data_dir": "~nobody-has-this-name/notes"})


def test_flags_win_over_the_environment_which_wins_over_the_file(
    clean: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(clean, "[retriever]\nk = 2\nprefilter = 20\nmax_tokens = 64\n")
    monkeypatch.setenv("CITEWELL_RETRIEVER__K", "3")
    monkeypatch.setenv("CITEWELL_RETRIEVER__PREFILTER", "30")
    retriever = load_settings({"retriever.k": 4}).retriever
    assert (retriever.k, retriever.prefilter, retriever.max_tokens) == (4, 30, 64)
    assert retriever.encoder == "e5-small"


@pytest.mark.parametrize(
    ("flags", "providers"),
    [
        ({"search.collection": "notes"}, ("auto",)),
        ({"search.collection": "notes", "search.providers": "wikipedia"}, ("collection", "wikipedia")),
        ({"search.collection": "notes", "search.providers": "collection, brave"}, ("collection", "brave")),
        ({}, ("wikipedia",)),
    ],
)
def test_a_flag_for_the_collection_is_searched_whatever_providers_there_are(
    flags: dict[str, str], providers: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CITEWELL_SEARCH__PROVIDERS", "wikipedia")
    assert load_settings(with_collection(flags)).search.providers == providers


def test_a_section_is_no_setting() -> None:
    with pytest.raises(SettingsError, match="generator is a section") as caught:
        load_settings({"generator": "extractive"})
    assert "generator.name" in caught.value.hint


def test_a_name_like_none_has_no_advice() -> None:
    with pytest.raises(SettingsError) as caught:
        load_settings({"xyzzy": 1})
    assert caught.value.hint == "All settings: docs/settings.md."


@pytest.mark.parametrize("name", PROFILES)
def test_a_profile_applies_where_nothing_else_is_set(
    clean: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    wanted = {
        f"{section}.{key}": value
        for section, values in profile_settings(name).items()
        for key, value in values.items()
    }
    assert wanted
    settings = load_settings({"profile": name})
    assert {key: getattr(getattr(settings, (at := key.split("."))[0]), at[1]) for key in wanted} == wanted
    write(clean, f'profile = "{name}"\n[retriever]\nk = 2\n')
    monkeypatch.setenv("CITEWELL_SCORER__NAME", "mine")
    settings = load_settings({"generator.best_of": 3})
    assert (settings.profile, settings.retriever.k) == (name, 2)
    assert (settings.scorer.name, settings.generator.best_of) == ("mine", 3)


def test_an_unknown_profile_is_refused(clean: Path) -> None:
    with pytest.raises(SettingsError, match="profile"):
        load_settings({"profile": "cheap"})


def test_a_flag_that_was_not_given_changes_nothing(clean: Path) -> None:
    write(clean, "[retriever]\nk = 2\n")
    assert load_settings({"retriever.k": None}).retriever.k == 2


def test_text_from_the_command_line_is_converted() -> None:
    settings = load_settings({"fetch.deadline": "3", "citations.drop_unsupported": "true"})
    assert settings.fetch.deadline == 3.0
    assert settings.citations.drop_unsupported is True


def test_the_settings_file_can_be_elsewhere(clean: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(clean, "[retriever]\nk = 2\n")
    monkeypatch.setenv("CITEWELL_CONFIG", str(write(clean, "[retriever]\nk = 7\n", "other.toml")))
    assert load_settings().retriever.k == 7


def test_a_settings_file_that_is_not_there(clean: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CITEWELL_CONFIG", str(clean / "nowhere.toml"))
    with pytest.raises(SettingsError, match=r"nowhere\.toml"):
        load_settings()


def test_a_file_that_is_no_toml(clean: Path) -> None:
    write(clean, "[retriever\nk = 2\n")
    with pytest.raises(SettingsError, match=r"citewell\.toml is not valid TOML.*line 1"):
        load_settings()


@pytest.mark.parametrize(
    ("text", "wrong", "nearest"),
    [
        ("[retriever]\nkk = 2\n", "retriever.kk", "retriever.k"),
        ("[retreiver]\nk = 2\n", "retreiver", "retriever"),
        ("thread = 2\n", "thread", "threads"),
    ],
)
def test_an_unknown_key_in_the_file(clean: Path, text: str, wrong: str, nearest: str) -> None:
    write(clean, text)
    with pytest.raises(SettingsError) as caught:
        load_settings()
    assert repr(wrong) in caught.value.message
    assert f"Did you mean {nearest}" in caught.value.hint


@pytest.mark.parametrize(
    ("variable", "value", "nearest"),
    [
        ("CITEWELL_RETRIEVER__KK", "2", "CITEWELL_RETRIEVER__K?"),
        ("CITEWELL_FETCH_DEADLINE", "2", "CITEWELL_FETCH__DEADLINE?"),
        ("CITEWELL_THREAD", "2", "CITEWELL_THREADS?"),
        ("CITEWELL_FETCH", '{"deadlin": 2}', "fetch.deadline?"),
    ],
)
def test_an_unknown_variable(
    monkeypatch: pytest.MonkeyPatch, variable: str, value: str, nearest: str
) -> None:
    monkeypatch.setenv(variable, value)
    with pytest.raises(SettingsError) as caught:
        load_settings()
    assert f"Did you mean {nearest}" in caught.value.hint


def test_an_unknown_flag() -> None:
    with pytest.raises(SettingsError) as caught:
        load_settings({"generator.bestof": 3})
    assert "generator.bestof" in caught.value.message
    assert "generator.best_of?" in caught.value.hint


@pytest.mark.parametrize(
    ("flags", "name"),
    [
        ({"retriever.k": "five"}, "retriever.k"),
        ({"retriever.k": 0}, "retriever.k"),
        ({"fetch.deadline": -1}, "fetch.deadline"),
        ({"fetch": 3}, "fetch"),
        ({"fetch": 3, "fetch.deadline": 2}, "fetch.deadline"),
        ({"fetch.deadline.seconds": 2}, "fetch.deadline"),
        ({"fetch.allow_networks": "10.0.0.0/8 nonsense"}, "fetch.allow_networks"),
        ({"fetch.allow_networks": "10.0.0.1/8"}, "fetch.allow_networks"),
    ],
)
def test_a_wrong_value_is_named(flags: dict[str, Any], name: str) -> None:
    with pytest.raises(SettingsError) as caught:
        load_settings(flags)
    assert name in caught.value.message


def test_a_section_in_the_environment_that_is_no_json(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CITEWELL_FETCH", "{deadline")
    with pytest.raises(SettingsError, match="fetch"):
        load_settings()


@pytest.mark.parametrize("text", ["10.0.0.0/8,fd00::/8", "10.0.0.0/8, fd00::/8", "10.0.0.0/8 fd00::/8"])
def test_networks_are_separated_by_commas_or_spaces(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CITEWELL_FETCH__ALLOW_NETWORKS", text)
    assert load_settings().fetch.allow_networks == (ip_network("10.0.0.0/8"), ip_network("fd00::/8"))


def test_networks_are_a_list_in_the_file(clean: Path) -> None:
    write(clean, '[fetch]\nallow_networks = ["10.0.0.0/8", "127.0.0.1/32"]\n')
    assert load_settings().fetch.allow_networks == (ip_network("10.0.0.0/8"), ip_network("127.0.0.1/32"))


def test_settings_errors_are_input_errors() -> None:
    with pytest.raises(SettingsError) as caught:
        load_settings({"nonsense": 1})
    assert caught.value.exit_code == 2
