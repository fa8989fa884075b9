"""Times in header fields, which anybody may send."""

from __future__ import annotations

from email.utils import formatdate

import pytest

from citewell.core.http_time import delta_seconds, http_date, retry_after


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("120", 120.0),
        (" 0 ", 0.0),
        ("9" * 5_000, 2.0**31),
        (formatdate(1_800_000_030, usegmt=True), 30.0),
        (formatdate(1_799_999_000, usegmt=True), 0.0),
        ("Fri, 15 Jan 2027 08:00:30 -0000", 30.0),
        ("", None),
        ("soon", None),
        ("-5", None),
        ("١٢", None),
        ("1.5", None),
        ("Wed, 21 Oct 99999999999999999999 07:28:00 GMT", None),
        ("Wed, 21 Oct 2015 07:28:00 +9999999999", None),
    ],
)
def test_both_forms_of_retry_after(value: str, seconds: float | None) -> None:
    assert retry_after({"Retry-After": value}, now=lambda: 1_800_000_000.0) == seconds


def test_what_is_neither_a_date_nor_a_number() -> None:
    assert http_date(None) is None
    assert http_date("0") is None
    assert delta_seconds("1e3") is None
