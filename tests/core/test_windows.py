"""The part of a text that a claim is compared with."""

from __future__ import annotations

from citewell.core.windows import Windows, best_window

FILLER = "Nothing of this matters to anybody at all, and it never did. "


def test_a_short_text_is_its_own_window() -> None:
    assert best_window("Concorde flew. It was fast.", "anything") == "Concorde flew. It was fast."
    assert best_window("", "anything") == ""


def test_the_window_has_most_words_of_the_claim_in_whole_sentences() -> None:
    told = "Concorde made its last flight in 2003. Air France had stopped some months before."
    text = FILLER * 12 + told + " " + FILLER * 12
    window = best_window(text, "Concorde's last flight, after Air France had stopped, was in 2003")
    assert told in window
    assert len(window.split()) <= 90
    assert window.startswith(("Nothing", "Concorde"))
    assert window.endswith(("did.", "before."))


def test_a_longer_sentence_is_one_window() -> None:
    long = "It goes on " + "and on " * 60 + "about zebras."
    assert best_window(f"{FILLER * 3}{long} {FILLER * 3}", "zebras") == long


def test_the_windows_of_a_text_serve_many_claims() -> None:
    windows = Windows(FILLER * 9 + "Zebras eat grass. " + FILLER * 9 + "Lions eat zebras.", 20)
    assert "grass" in windows.best("What do zebras eat? Grass.")
    assert "Lions" in windows.best("Lions eat zebras.")
    assert Windows("").best("Lions") == ""
