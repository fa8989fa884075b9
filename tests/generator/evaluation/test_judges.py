"""Each judge decides as its kind of model does, and the one that corrects is never alone."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest
from aiohttp import web

from citewell.core.errors import InputError, ModelError
from citewell.core.settings import load_settings
from citewell.generator.evaluation.judges.embedding import EmbeddingJudge, windows
from citewell.generator.evaluation.judges.judge import CachingJudge, ClaimAndPassages
from citewell.generator.evaluation.judges.lexical import RougeJudge
from citewell.generator.evaluation.judges.names import check_judges, open_judges
from citewell.generator.evaluation.judges.nli import load_nli
from citewell.generator.evaluation.judges.parts import parts
from citewell.generator.evaluation.judges.writer import WriterJudge, open_writer_judge
from citewell.retriever.encoder.two_towers import TwoTowers
from tests.generator.chat_service import ChatService, yes_or_no
from tests.generator.evaluation.tiny import write_classifier, write_t5
from tests.generator.rounding import same

LENS = (
    "A Fresnel lens gathers the light of a lighthouse lamp into a narrow beam. The first was built in 1823."
)
OTHER = "Lighthouse keepers wound the clockwork every few hours. They wrote a log book."
PAIRS = [
    ClaimAndPassages("The lens of a lighthouse collects its light into one narrow beam.", (LENS,)),
    ClaimAndPassages("The lens of a lighthouse collects its light into one narrow beam.", (OTHER,)),
    ClaimAndPassages("The lens of a lighthouse collects its light into one narrow beam.", (OTHER, LENS)),
    ClaimAndPassages("The lens of a lighthouse collects its light into one narrow beam.", ()),
]


def test_the_lexical_judge_is_the_support_check() -> None:
    judge = RougeJudge(0.5)
    assert judge.supports([ClaimAndPassages("The first lens was built in 1823.", (LENS,))]) == [True]
    assert judge.supports([ClaimAndPassages("The first lens was built in 1824.", (LENS,))]) == [False], (
        "a wrong number"
    )
    assert judge.supports(
        [ClaimAndPassages("Bread is baked.", (LENS,)), ClaimAndPassages("Bread is baked.", ())]
    ) == [False, False]


def test_the_embedding_judge_knows_the_same_meaning_in_other_words(encoder: TwoTowers) -> None:
    judge = EmbeddingJudge(encoder.encode_passages)
    assert judge.supports(PAIRS) == [True, False, True, False]
    assert judge.supports([]) == []


def test_a_claim_is_compared_with_windows_of_sentences() -> None:
    assert windows("One is. Two is. Three is.", 2) == ["One is. Two is.", "Two is. Three is."]
    assert windows("One is.\nTwo is.", 5) == ["One is. Two is."]
    assert windows(" ", 2) == []


SMOLLM2 = "SmolLM2-135M-Instruct"


@pytest.fixture(scope="module")
def writer() -> Iterator[WriterJudge]:
    with open_writer_judge(SMOLLM2, load_settings()) as judge:
        yield judge


def test_a_language_model_judges_by_its_probability_of_yes(writer: WriterJudge) -> None:
    assert writer.name == "writer:SmolLM2-135M-Instruct (yes ≥ 0.5)"
    said, unsaid, both, without = writer.grades(PAIRS)
    assert said > unsaid
    assert 0 < unsaid < both < 1
    assert without == 0.0
    assert writer.supports(PAIRS) == [each >= 0.5 for each in (said, unsaid, both, without)]
    assert writer.supports([]) == []


def test_of_long_passages_the_part_counts_that_is_likeliest_to_support(writer: WriterJudge) -> None:
    claim = PAIRS[0].claim
    first = " ".join([OTHER] * 46)  # 598 words: there is no room for the next sentence
    texts = [(first, LENS), (first,), (LENS,)]
    found, head, rest = writer.grades([ClaimAndPassages(claim, each) for each in texts])
    assert same([found], [max(head, rest)])
    assert head != rest


def test_passages_are_cut_at_sentences() -> None:
    def words(sentence: str) -> int:
        return len(sentence.split())

    assert list(parts(["One is. Two is.", "Three is."], 4, words)) == ["One is. Two is.", "Three is."]
    assert list(parts(["One is.\nTwo is."], 1, words)) == ["One is.", "Two is."]
    assert list(parts(["", " "], 4, words)) == []


async def test_a_language_model_behind_an_api_judges() -> None:
    async def service(request: web.Request) -> web.StreamResponse:
        asked = (await request.json())["messages"][-1]["content"]
        return web.json_response(yes_or_no(0.9 if LENS in asked and "Claim: The lens" in asked else 0.1))

    def judged(url: str) -> tuple[str, list[float], list[bool]]:
        settings = load_settings({"generator.base_url": url, "generator.concurrency": 2})
        with open_writer_judge("openai:tutor", settings) as judge:
            return judge.name, judge.grades(PAIRS), judge.supports(PAIRS)

    async with ChatService([service]) as http:
        name, found, verdicts = await asyncio.to_thread(judged, http.url)
    assert name == "writer:openai:tutor (yes ≥ 0.5)"
    assert found == pytest.approx([0.9, 0.1, 0.9, 0.0])
    assert verdicts == [True, False, True, False]


def test_an_answer_is_remembered(encoder: TwoTowers) -> None:
    embedded: list[int] = []

    def embed(texts: Sequence[str]) -> np.ndarray:
        embedded.append(len(texts))
        return encoder.encode_passages(texts)

    judge = CachingJudge(EmbeddingJudge(embed))
    assert judge.name == "embedding"
    assert judge.supports(PAIRS) == judge.supports(PAIRS[::-1])[::-1]
    assert len(embedded) == 1


def test_a_t5_judge_answers_by_its_first_token(tmp_path: Path) -> None:
    import torch
    from transformers import AutoModelForSeq2SeqLM, AutoTokenizer

    folder = write_t5(tmp_path / "true")
    judge = load_nli(str(folder))
    assert judge.name == f"nli:{folder}"
    texts = [
        ("the sun is hot .", "sun hot"),
        ("the moon is cold .", "hot"),
        ("the sun is cold", "moon moon"),
    ]
    found = judge.supports([ClaimAndPassages(claim, (premise,)) for premise, claim in texts])
    model, tokenizer = AutoModelForSeq2SeqLM.from_pretrained(folder), AutoTokenizer.from_pretrained(folder)
    for (premise, claim), verdict in zip(texts, found, strict=True):
        read = tokenizer(f"premise: {premise} hypothesis: {claim}", return_tensors="pt")
        with torch.no_grad():
            logits = model(
                input_ids=read["input_ids"],
                attention_mask=read["attention_mask"],
                decoder_input_ids=torch.zeros((1, 1), dtype=torch.long),
            ).logits[0, 0]
        zero, one = (logits[tokenizer.convert_tokens_to_ids(text)] for text in "01")
        assert verdict == bool(one >= zero)


def test_mini_check_is_asked_in_its_own_form(tmp_path: Path) -> None:
    pairs = [
        ClaimAndPassages("sun hot", ("the sun is hot .",)),
        ClaimAndPassages("moon", ("the moon is cold .",)),
    ]
    judge = load_nli(str(write_t5(tmp_path / "MiniCheck-Flan-T5")))
    assert len(judge.supports(pairs)) == 2


@pytest.mark.parametrize(
    ("labels", "favourite", "supported"),
    [
        (["contradiction", "ENTAILMENT", "neutral"], 1, True),
        (["contradiction", "ENTAILMENT", "neutral"], 2, False),
        (["LABEL_0", "LABEL_1"], 1, True),
        (["LABEL_0", "LABEL_1"], 0, False),
    ],
)
def test_a_judge_of_classes(tmp_path: Path, labels: list[str], favourite: int, supported: bool) -> None:
    judge = load_nli(str(write_classifier(tmp_path / "nli", labels, favourite)))
    long = " ".join(["The sun is hot."] * 50)
    assert (
        judge.supports(
            [ClaimAndPassages("the sun is hot", (long, "moon")), ClaimAndPassages("moon", ("sun",))]
        )
        == [supported] * 2
    )
    assert judge.supports([ClaimAndPassages("the sun is hot", ())]) == [False]


def test_a_model_without_entailment_is_refused(tmp_path: Path) -> None:
    folder = write_classifier(tmp_path / "moods", ["joy", "anger", "fear"], 0)
    with pytest.raises(ModelError, match="no class called entailment: it knows joy, anger, fear"):
        load_nli(str(folder))


def test_a_folder_without_a_model_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="cannot be loaded as a judge"):
        load_nli(str(tmp_path))


def test_rouge_is_never_the_only_judge_of_what_it_corrected() -> None:
    with pytest.raises(InputError, match="ROUGE would be the only judge"):
        check_judges(["rouge"], corrected=True)
    check_judges(["rouge"], corrected=False)
    check_judges(["rouge", "nli:google/t5_xxl_true_nli_mixture"], corrected=True)
    with pytest.raises(InputError, match="Unknown judge 'rogue'"):
        check_judges(["rogue", "embedding"], corrected=True)


def test_judges_are_built_by_their_names(encoder: TwoTowers) -> None:
    names = ["rouge", "embedding", f"writer:{SMOLLM2}"]
    with open_judges(names, load_settings(), lambda: encoder.encode_passages, lambda text: None) as judges:
        assert [judge.name for judge in judges] == [*names[:2], f"{names[2]} (yes ≥ 0.5)"]
        assert [judge.supports([PAIRS[3]]) for judge in judges] == [[False]] * 3
