from __future__ import annotations

from pathlib import Path

from citewell.bootstrap.command import changes, command


def test_it_has_names_for_paths_and_what_is_not_as_usual() -> None:
    usual = {"filters": {"cited": 1, "markup": True}, "generator": {"base_url": "https://api.openai.com/v1"}}
    values = {
        "filters": {"cited": 2, "markup": False},
        "generator": {"base_url": "http://me:secret@127.0.0.1:8000/v1"},
    }
    assert command(
        Path("/home/me/my questions.jsonl"),
        "/home/me/tutor.gguf",
        Path("runs/../mine"),
        changes(values, usual),
    ) == (
        "citewell bootstrap --questions 'my questions.jsonl' --teacher tutor.gguf --out mine \\\n"
        "    --set filters.cited=2 \\\n"
        "    --set filters.markup=false \\\n"
        "    --set generator.base_url=http://127.0.0.1:8000/v1"
    )


def test_lists_and_texts_are_written_as_set_reads_them() -> None:
    changed = {
        "search.sites": ["a.org", "b.org"],
        "prompt.instruction": "Be brief.",
        "retriever.encoder": "/x/e",
        "filters.reader": "nli:/x/judge",
    }
    assert command(Path("-"), "recorded", Path("mine"), changed) == (
        "citewell bootstrap --questions - --teacher recorded --out mine \\\n"
        "    --set search.sites=a.org,b.org \\\n"
        "    --set 'prompt.instruction=Be brief.' \\\n"
        "    --set retriever.encoder=e \\\n"
        "    --set filters.reader=nli:judge"
    )


def test_as_usual_it_is_one_line() -> None:
    assert command(Path("q.txt"), "openai:Qwen/Qwen3-8B", Path("/o/mine"), {}) == (
        "citewell bootstrap --questions q.txt --teacher openai:Qwen/Qwen3-8B --out mine"
    )
