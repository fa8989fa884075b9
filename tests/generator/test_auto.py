"""What `auto` chooses: a configured server, the best installed writer, or quotations with one advice."""

from __future__ import annotations

from pathlib import Path

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from citewell.core.errors import CitewellError, ModelError, ServiceError, ServiceUnreachableError
from citewell.core.settings import GeneratorSettings
from citewell.core.threads import in_thread
from citewell.generator.auto import resolve_auto, writers


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CITEWELL_CACHE_DIR", str(tmp_path))
    return tmp_path


def install(cache: Path, name: str) -> None:
    model = next(model for model in writers() if model.name == name)
    file = cache / "weights" / name / model.file
    file.parent.mkdir(parents=True)
    file.write_bytes(b"GGUF")


def test_without_a_writer_it_quotes_and_says_how_to_get_one() -> None:
    chosen, advice = resolve_auto(GeneratorSettings(), {"OPENAI_API_KEY": "sk-for-other-programs"})
    assert chosen.name == "extractive"
    assert "citewell models get qwen2.5-coder-1.5b (1.1 GB)" in advice
    assert "\n" not in advice


def test_the_best_installed_writer_is_chosen(cache: Path) -> None:
    install(cache, "qwen3-1.7b")
    assert resolve_auto(GeneratorSettings()) == (GeneratorSettings(name="qwen3-1.7b"), "")
    install(cache, "qwen2.5-coder-1.5b")
    assert resolve_auto(GeneratorSettings()).settings.name == "qwen2.5-coder-1.5b"
    assert resolve_auto(GeneratorSettings(name="extractive")).settings.name == "extractive"


@pytest.mark.parametrize("models", [1, 2])
async def test_a_configured_server_wins(models: int, cache: Path) -> None:
    install(cache, "qwen2.5-coder-1.5b")
    keys = []

    async def list_models(request: web.Request) -> web.Response:
        keys.append(request.headers.get("Authorization"))
        data = [{"id": f"org/large-{n}", "object": "model"} for n in range(models)]
        return web.json_response({"object": "list", "data": data})

    app = web.Application()
    app.router.add_get("/v1/models", list_models)
    async with TestServer(app, host="127.0.0.1") as server:
        wanted = GeneratorSettings(base_url=f"http://127.0.0.1:{server.port}/v1")
        if models == 1:
            assert (await in_thread(lambda: resolve_auto(wanted, {}))).settings.name == "openai:org/large-0"
        else:
            with pytest.raises(ModelError, match="2 models") as caught:
                await in_thread(lambda: resolve_auto(wanted, {"OPENAI_API_KEY": "sk-1"}))
            assert "openai:MODEL" in caught.value.hint
    assert keys == [None if models == 1 else "Bearer sk-1"]


@pytest.mark.parametrize(
    "body",
    [
        "<html><body>A page</body></html>",
        "[]",
        '{"data": [{"object": "model"}]}',
        '{"data": ["large"]}',
        '{"data": ',
    ],
)
async def test_a_configured_server_that_sends_something_else(body: str) -> None:
    async def list_models(request: web.Request) -> web.Response:
        kind = "text/html" if body.startswith("<") else "application/json"
        return web.Response(text=body, content_type=kind)

    app = web.Application()
    app.router.add_get("/v1/models", list_models)
    async with TestServer(app, host="127.0.0.1") as server:
        wanted = GeneratorSettings(base_url=f"http://127.0.0.1:{server.port}/v1")
        with pytest.raises(CitewellError, match=rf"127\.0\.0\.1:{server.port}"):
            await in_thread(lambda: resolve_auto(wanted, {}))


def test_an_address_or_key_that_cannot_be_used(cache: Path) -> None:
    for url, key in (("http://ada:secret@[::1", ""), ("nowhere", ""), ("http://127.0.0.1:9/v1", "ключ")):
        with pytest.raises(ServiceError, match=r"^(?!.*secret).*(?:is not a valid URL|no HTTP header)"):
            resolve_auto(GeneratorSettings(base_url=url), {"OPENAI_API_KEY": key})
    assert resolve_auto(GeneratorSettings(base_url=""), {}).settings.name == "extractive"


def test_a_configured_server_that_does_not_answer() -> None:
    with pytest.raises(ServiceUnreachableError, match=r"127\.0\.0\.1:9") as caught:
        resolve_auto(GeneratorSettings(base_url="http://127.0.0.1:9/v1"), {})
    assert "Start it" in caught.value.hint
