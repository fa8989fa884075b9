"""Resolution of an encoder's name to two towers, each with its weights, its pooling and its limits."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, NamedTuple

from citewell.core.errors import ModelError
from citewell.core.models.catalog import catalog
from citewell.core.weights import local_name, locate

PoolingMode = Literal["mean", "cls"]

ADAPTERS = Path(__file__).parent / "adapters"
"""The adapters that come with Citewell, in one folder per encoder, named after it."""

# E5 wants these prefixes, which its files on the hub do not name: https://arxiv.org/abs/2212.03533
_E5 = re.compile(r"intfloat/(multilingual-)?e5-(small|base|large)(-v2|-unsupervised)?")
_E5_PROMPTS = {"query": "query: ", "document": "passage: "}
_ROUTERS = {"Router", "Asym"}
# Models whose positions begin after the padding's: https://github.com/huggingface/transformers/issues/1363.
_OFFSET_POSITIONS = {"roberta", "xlm-roberta", "camembert", "mpnet"}
_LEGACY_POOLING = {
    "pooling_mode_cls_token": "cls",
    "pooling_mode_max_tokens": "max",
    "pooling_mode_mean_tokens": "mean",
    "pooling_mode_mean_sqrt_len_tokens": "mean_sqrt_len_tokens",
    "pooling_mode_weightedmean_tokens": "weightedmean",
    "pooling_mode_lasttoken": "lasttoken",
}
# The released retriever of WebGLM has no tokenizer: its code uses that of its base model.
_WEBGLM_TOKENIZER = "facebook/contriever-msmarco"
_TOKENIZER_FILES = ("tokenizer.json", "vocab.txt", "sentencepiece.bpe.model")
_HINT = (
    "Use a BERT-like or sentence-transformers model with mean or [CLS] pooling, such as all-MiniLM-L6-v2 "
    "or facebook/contriever."
)


@dataclass(frozen=True, slots=True)
class Tower:
    """One of the two encoders.

    `folder` holds the weights and their config.json, `adapter` a LoRA adapter in the PEFT format to merge
    into them, `layers` a file of tensors in place of theirs, `tokenizer` the tokenizer. `limit` is the most
    tokens that the model reads, `prompt` the prefix of every text.
    """

    folder: Path
    tokenizer: Path
    adapter: Path | None
    pooling: PoolingMode
    normalize: bool
    limit: int
    dimension: int
    prompt: str = ""
    layers: Path | None = None

    @property
    def model(self) -> Tower:
        """The tower without its prompt: towers that differ in nothing else share one model."""
        return replace(self, prompt="")

    @property
    def digest(self) -> str:
        """The SHA-256 of everything that determines the tower's vectors; reads the weights."""
        digest = hashlib.sha256(f"{self.pooling} {self.normalize} {self.limit} {self.prompt}".encode())
        for file in self._files():
            digest.update(file.name.encode())
            with file.open("rb") as content:
                digest.update(hashlib.file_digest(content, "sha256").digest())
        return digest.hexdigest()

    def _files(self) -> Iterator[Path]:
        weights = sorted(self.folder.glob("*.safetensors")) or sorted(self.folder.glob("*.bin"))
        yield from (self.folder / "config.json", *weights)
        yield from (file for name in _TOKENIZER_FILES if (file := self.tokenizer / name).is_file())
        if self.adapter is not None:
            yield from (self.adapter / "adapter_config.json", *sorted(self.adapter.glob("*.safetensors")))
        if self.layers is not None:
            yield self.layers


class Towers(NamedTuple):
    """The two towers of a dual encoder, which may be the same."""

    question: Tower
    passage: Tower


def resolve(name: str) -> Towers:
    """Find the two towers of the encoder `name`; download a hub id that is not on disk.

    A name is that of a packaged or shipped encoder, a folder, or a hub id. A model may be a plain BERT (mean
    pooling, no normalization, as WebGLM §3.1.2 uses Contriever), a sentence-transformers model, one
    with a `Router.for_query_document`, or WebGLM's released `query_encoder/` and `reference_encoder/`.

    Raises `ModelError` for a model of another kind, with another pooling, or that cannot be found.
    """
    if is_shipped(name):
        return _shipped(name)
    weights = locate(name, role="encoder")
    if weights.is_gguf:
        raise _unusable(name, "it is a GGUF file, which holds a language model.")
    folder = weights.path or download(name)
    if (folder / "query_encoder").is_dir() and (folder / "reference_encoder").is_dir():
        sides = (folder / "query_encoder", folder / "reference_encoder")
        towers = Towers(*(_plain(name, side, _webglm_tokenizer(name, side)) for side in sides))
    elif (folder / "modules.json").is_file():
        towers = _from_modules(name, folder)
    else:
        tower = _plain(name, folder, folder)
        towers = Towers(tower, tower)
    if towers.question.dimension != towers.passage.dimension:
        raise _unusable(
            name,
            f"its question vectors have {towers.question.dimension} dimensions, "
            f"its passage vectors {towers.passage.dimension}.",
            "Use two towers that were trained together.",
        )
    return towers


def is_shipped(name: str) -> bool:
    """Return whether `name` is that of adapters that come with Citewell."""
    return name.isprintable() and Path(name).name == name != "" and (ADAPTERS / name).is_dir()


def packaged_base(name: str) -> str:
    """Return the name of the packaged weights on which the encoder `name` is based, or else `name`."""
    if not is_shipped(name):
        return name
    hub = _read(ADAPTERS / name / "passage" / "adapter_config.json").get("base_model_name_or_path")
    for model in catalog().values():
        if model.hub == hub:
            return model.name
    raise _unusable(name, f"its adapters name the base {hub}.", "Install Citewell again.")


def cache_key(name: str) -> str:
    """Return a key of the weights that `resolve` finds, without downloading or reading them whole."""
    digest = hashlib.sha256()
    if is_shipped(name):
        digest.update(locate(packaged_base(name)).fingerprint.encode())
        for file in sorted((ADAPTERS / name).rglob("adapter_*")):
            digest.update(file.read_bytes())
        return digest.hexdigest()[:16]
    weights = locate(name, role="encoder")
    digest.update(weights.fingerprint.encode())
    if weights.path is not None:
        for tower in resolve(name):
            if not tower.folder.is_relative_to(weights.path):
                digest.update(locate(str(tower.folder)).fingerprint.encode())
    return digest.hexdigest()[:16]


def download(name: str, patterns: tuple[str, ...] = ("*.safetensors", "*.bin")) -> Path:
    """Return the folder of the hub's model `name`, with its weights and their other files."""
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HfHubHTTPError, LocalEntryNotFoundError

    wanted = ["*.json", "*.txt", "*.model", *patterns]
    try:
        return Path(snapshot_download(name, allow_patterns=wanted, ignore_patterns=["onnx/*", "openvino/*"]))
    except LocalEntryNotFoundError as error:
        reason = f": {error.__cause__}" if error.__cause__ else ""
        raise ModelError(
            f"The model {name} is not on this machine and the hub cannot be reached{reason}.".rstrip(".")
            + ".",
            "Connect to the network, set HF_ENDPOINT to a mirror, or give a local folder.",
        ) from error
    except HfHubHTTPError as error:
        raise ModelError(
            f"The hub does not give the model {name}: {error.args[0].splitlines()[0]}",
            "Check the name; for a gated model set HF_TOKEN.",
        ) from error


def _shipped(name: str) -> Towers:
    base = resolve(packaged_base(name))
    sides = (ADAPTERS / name / "question", ADAPTERS / name / "passage")
    return Towers(*(_with_adapter(name, tower, side) for tower, side in zip(base, sides, strict=True)))


def _with_adapter(name: str, base: Tower, adapter: Path) -> Tower:
    if not (adapter / "adapter_config.json").is_file():
        raise _unusable(name, f"{adapter} has no adapter_config.json.", "Install Citewell again.")
    return Tower(
        base.folder,
        base.tokenizer,
        adapter,
        base.pooling,
        base.normalize,
        base.limit,
        base.dimension,
        base.prompt,
    )


def _webglm_tokenizer(name: str, side: Path) -> Path:
    for folder in (side, side.parent):
        if _has_tokenizer(folder):
            return folder
    if not (side / "config.json").is_file():
        return side  # an adapter, whose base has a tokenizer
    try:
        return download(_WEBGLM_TOKENIZER, ())
    except ModelError as error:
        raise _unusable(
            name,
            f"{side} holds no tokenizer, and that of {_WEBGLM_TOKENIZER} cannot be loaded: {error.message}",
            f"Put the tokenizer.json of {_WEBGLM_TOKENIZER} into {side.parent}.",
        ) from error


def _has_tokenizer(folder: Path) -> bool:
    return any((folder / file).is_file() for file in _TOKENIZER_FILES)


def _from_modules(name: str, folder: Path) -> Towers:
    """Read the modules.json of a sentence-transformers model, and its Router's file if it has one."""
    modules = [
        _Module(_kind(module["type"]), folder / module["path"]) for module in _read(folder / "modules.json")
    ]
    prompts = _read(folder / "config_sentence_transformers.json").get("prompts") or {}
    if not any(prompts.values()) and _E5.fullmatch(name):
        prompts = _E5_PROMPTS
    sides = (("query",), ("document", "passage", "corpus"))
    question, passage = (next((prompts[key] for key in keys if prompts.get(key)), "") for keys in sides)
    if not modules or modules[0].kind not in _ROUTERS:
        return Towers(_chain(name, modules, question), _chain(name, modules, passage))
    router = modules[0].folder
    config = _read(router / "router_config.json") or _read(router / "config.json")
    types, routes = config.get("types", {}), config.get("structure", {})
    if not {"query", "document"} <= routes.keys():
        raise _unusable(
            name,
            f"its Router has the routes {', '.join(routes) or 'none'}, where query and document are needed.",
            "Build it with sentence-transformers' Router.for_query_document.",
        )

    def chain(route: str) -> list[_Module]:
        return [_Module(_kind(types[key]), router / key) for key in routes[route]] + modules[1:]

    return Towers(_chain(name, chain("query"), question), _chain(name, chain("document"), passage))


class _Module(NamedTuple):
    kind: str
    folder: Path


def _kind(class_name: str) -> str:
    return class_name.rpartition(".")[2]


def _chain(name: str, modules: list[_Module], prompt: str) -> Tower:
    """Return the tower of a Transformer, a Pooling and optionally a Normalize, in this order."""
    kinds = [module.kind for module in modules if module.kind != "Dropout"]
    if kinds not in (["Transformer", "Pooling"], ["Transformer", "Pooling", "Normalize"]):
        raise _unusable(name, f"it is made of the modules {', '.join(kinds) or 'none'}.")
    config = _read(modules[kinds.index("Pooling")].folder / "config.json")
    modes = config.get("pooling_mode") or [mode for key, mode in _LEGACY_POOLING.items() if config.get(key)]
    modes = [modes] if isinstance(modes, str) else list(modes) or ["mean"]
    if len(modes) > 1 or modes[0] not in ("mean", "cls"):
        raise _unusable(name, f"it pools the vectors of tokens by {' and '.join(modes)}.")
    if prompt and not config.get("include_prompt", True):
        raise _unusable(name, f"it leaves its prompt {prompt!r} out of the pooling.")
    return _plain(
        name, modules[0].folder, modules[0].folder, modes[0], normalize="Normalize" in kinds, prompt=prompt
    )


def _plain(
    name: str,
    folder: Path,
    tokenizer: Path,
    pooling: PoolingMode = "mean",
    *,
    normalize: bool = False,
    prompt: str = "",
) -> Tower:
    """Return the tower whose weights, or whose adapter with the name of its base, are in `folder`."""
    adapter = None
    if not (folder / "config.json").is_file() and (folder / "adapter_config.json").is_file():
        adapter, base = folder, _read(folder / "adapter_config.json").get("base_model_name_or_path") or ""
        base = local_name(base)
        weights = locate(base)
        folder = weights.path or download(base)
        tokenizer = tokenizer if _has_tokenizer(tokenizer) else folder
    if not (folder / "config.json").is_file():
        raise _unusable(name, f"{folder} has no config.json.")
    if not _has_tokenizer(tokenizer):
        raise _unusable(name, f"{tokenizer} holds no tokenizer.", f"Put a tokenizer.json into {tokenizer}.")
    config = _read(folder / "config.json")
    dimension = config.get("hidden_size") or config.get("dim")
    if not isinstance(dimension, int):
        raise _unusable(
            name, f"its config.json names no hidden_size (model type {config.get('model_type')})."
        )
    limit = _limit(
        config, _read(folder / "sentence_bert_config.json"), _read(tokenizer / "tokenizer_config.json")
    )
    return Tower(folder, tokenizer, adapter, pooling, normalize, limit, dimension, prompt)


def _limit(config: dict[str, Any], sentence: dict[str, Any], tokenizer: dict[str, Any]) -> int:
    positions = config.get("max_position_embeddings") or 512
    if config.get("model_type") in _OFFSET_POSITIONS:
        positions -= 2
    given = (sentence.get("max_seq_length"), tokenizer.get("model_max_length"))
    return min(int(limit) for limit in (positions, *given) if limit)


def _unusable(name: str, found: str, hint: str = _HINT) -> ModelError:
    return ModelError(f"The model {name} cannot be used as an encoder: {found}", hint)


def _read(file: Path) -> Any:
    if not file.is_file():
        return {}
    try:
        return json.loads(file.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ModelError(
            f"{file} is not valid JSON: {error}.", "Copy or download the model again."
        ) from error
