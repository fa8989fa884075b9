"""WebGLM's tables of ablations (https://arxiv.org/abs/2306.07906), as the paper prints them."""

from __future__ import annotations

from typing import NamedTuple

_HUMAN = ("Flu.", "Cor.", "Cit. Acc.", "Obj.", "Tru.", "Red.↓")


class PaperTable(NamedTuple):
    """A table of the paper: its title, its measures, and the values of each row, "" where it has none."""

    title: str
    measures: tuple[str, ...]
    rows: dict[str, tuple[str, ...]]


PAPER = {
    "5": PaperTable(
        "Table 5: filters of the data, read by people",
        ("Flu.", "Cor.", "Cit. Acc.", "Tru.", "Obj.", "Red.↓"),
        {
            "None": ("2.872", "2.636", "2.370", "2.810", "0.805", "0.134"),
            "Rouge-L": ("2.731", "2.680", "2.573", "2.896", "0.841", "0.181"),
            "Rouge-1": ("2.826", "2.694", "2.688", "2.919", "0.890", "0.120"),
        },
    ),
    "6": PaperTable(
        "Table 6: students of filtered data",
        _HUMAN,
        {
            "None": ("2.610", "2.738", "2.655", "0.961", "0.961", "0.063"),
            "Rouge-L": ("2.604", "2.742", "2.727", "0.952", "0.975", "0.034"),
            "Rouge-1": ("2.852", "2.738", "2.743", "0.976", "0.970", "0.044"),
        },
    ),
    "8": PaperTable(
        "Table 8: scorer, retriever and generator",
        _HUMAN,
        {
            "No Scorer": ("2.797", "2.757", "2.723", "0.961", "0.970", "0.039"),
            "Human Preference-aware Scorer": ("2.829", "2.810", "2.757", "0.943", "0.998", "0.021"),
            "No Retriever": ("2.364", "1.982", "", "", "0.645", "0.091"),
            "WebGPT Retriever": ("2.750", "2.884", "2.808", "0.981", "0.980", "0.038"),
            "Contriever": ("2.761", "2.732", "2.721", "0.963", "0.930", "0.043"),
            "LLM-augmented Retriever": ("2.797", "2.757", "2.723", "0.961", "0.970", "0.039"),
            "GPT-3, zero-shot": ("2.751", "2.752", "2.607", "0.927", "0.966", "0.034"),
            "Bootstrapped Generator": ("2.797", "2.757", "2.723", "0.961", "0.970", "0.039"),
        },
    ),
    "9": PaperTable(
        "Table 9: scorers on votes",
        ("Accuracy", "Spearman", "N-NDCG"),
        {
            "Classification": ("0.552", "0.129", "0.319"),
            "Regression": ("0.569", "0.164", "0.352"),
            "RM (ELI5)": ("0.568", "0.197", "0.406"),
            "RM (WebGLM)": ("0.596", "0.241", "0.367"),
        },
    ),
    "10": PaperTable(
        "Table 10: generators on the same references",
        _HUMAN,
        {
            "GPT-3 In-Context": ("2.801", "2.883", "2.726", "0.966", "0.975", "0.024"),
            "WebGPT-175B": ("2.457", "2.889", "2.837", "0.990", "0.975", "0.087"),
            "WebGLM-10B-Rouge1": ("2.750", "2.884", "2.808", "0.981", "0.980", "0.038"),
        },
    ),
    "13": PaperTable(
        "Table 13: prompts",
        _HUMAN,
        {
            "WebGLM Prompt": ("2.797", "2.757", "2.723", "0.961", "0.970", "0.039"),
            "Question before Reference": ("2.633", "2.518", "2.700", "0.933", "0.970", "0.058"),
            "3-Reference": ("2.658", "2.412", "2.819", "0.933", "0.930", "0.065"),
        },
    ),
}
