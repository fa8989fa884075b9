"""The false edits of true sentences: enough of each kind, and none that its paragraph supports by mistake."""

from __future__ import annotations

from collections import Counter

from benchmarks.false_edits import KINDS, TRUE, EditedClaim, passed, read_claims, word_rule


def test_there_are_three_hundred_edits_of_nine_kinds_and_a_third_is_held_out() -> None:
    development, held = read_claims(held=False), read_claims(held=True)
    counts = Counter(each.kind for each in [*development, *held])
    assert counts.keys() == {TRUE, *KINDS}
    assert min(counts[kind] for kind in KINDS) >= 20
    assert sum(counts[kind] for kind in KINDS) >= 300
    assert 0.3 < len(held) / (len(held) + len(development)) < 0.36
    assert {each.text for each in held}.isdisjoint(each.text for each in development)


def test_no_claim_stands_twice_and_no_false_one_is_a_part_of_its_paragraph() -> None:
    claims = [*read_claims(held=False), *read_claims(held=True)]
    assert len({(each.claim, each.text) for each in claims}) == len(claims)
    assert not any(each.claim.strip(" .") in each.text for each in claims if each.kind != TRUE)


def test_shares_are_counted_by_kind() -> None:
    claims = [EditedClaim(kind, "title", "text", kind) for kind in (TRUE, *KINDS)]
    found = passed(lambda given: [each.claim in (TRUE, "roles") for each in given], claims)
    assert (found[TRUE], found["roles"], found["name"]) == (1, 1, 0)
    assert found["all false"] == round(1 / 9, 3)


def test_the_word_rule_refuses_other_names_and_numbers() -> None:
    found = passed(word_rule, read_claims(held=False))
    assert found["name"] < 0.3
    assert found["number"] < 0.6  # it does not read numbers in words
