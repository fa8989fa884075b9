"""The data sets of benchmarks, fetched from a real server with small originals."""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from benchmarks.data.__main__ import main
from benchmarks.data.catalog import read_catalog
from benchmarks.data.convert import CONVERTERS
from benchmarks.results_files import missing_sets

DEMOS = "longform/alce_demos.jsonl.gz"


@dataclass
class Origin:
    """Files behind HTTP; the next answers break off after the byte counts in `breaks`."""

    files: dict[str, bytes]
    breaks: list[int] = field(default_factory=list)
    ranges: list[str] = field(default_factory=list)
    url: str = ""


@pytest.fixture
def origin() -> Iterator[Origin]:
    content = Origin({f"prompts/{name}_default.json": prompt(name) for name in ("asqa", "eli5", "qampari")})

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            body = content.files.get(self.path.removeprefix("/"))
            if body is None:
                self.send_error(404)
                return
            asked = self.headers.get("Range", "")
            start = int(asked.removeprefix("bytes=").removesuffix("-") or 0)
            if asked:
                content.ranges.append(asked)
            self.send_response(206 if asked else 200)
            if asked:
                self.send_header("Content-Range", f"bytes {start}-{len(body) - 1}/{len(body)}")
            self.send_header("Content-Length", str(len(body) - start))
            self.end_headers()
            end = start + content.breaks.pop(0) if content.breaks else len(body)
            self.wfile.write(body[start:end])
            self.close_connection = end < len(body)

        def log_message(self, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    content.url = f"http://127.0.0.1:{server.server_address[1]}"
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield content
    server.shutdown()
    server.server_close()


def prompt(name: str) -> bytes:
    docs = [{"title": "Tides", "text": "The Moon pulls at the sea."}]
    demo = {"question": f"Why are there tides ({name})?", "answer": "The Moon [1].", "docs": docs}
    return json.dumps({"instruction": "Answer.", "demos": [demo]}).encode()


def expected() -> bytes:
    rows = []
    for name in ("asqa", "eli5", "qampari"):
        words = f"why are there tides {name}"
        rows.append(
            f'{{"id":"alce-{name}-demo-{hashlib.sha1(words.encode()).hexdigest()[:8]}","dataset":"{name}",'
            f'"question":"Why are there tides ({name})?","answer":"The Moon [1].","references":[{{"n":1,'
            '"title":"Tides","url":null,"text":"The Moon pulls at the sea."}],"license":"MIT"}\n'
        )
    return "".join(rows).encode()


def catalog(folder: Path, origin: Origin, *, more: str = "", sha256: str = "") -> list[str]:
    file = folder / "catalog.toml"
    file.write_text(
        f"""[demos]
origin = "somebody/demos @ 0123"
license = "MIT"
url = "{origin.url}/{{path}}"
originals = {json.dumps(list(origin.files))}
converter = "alce_demos"
{more}
files = [{{ path = "{DEMOS}", rows = 3, sha256 = "{sha256 or hashlib.sha256(expected()).hexdigest()}" }}]
""",
        encoding="utf-8",
    )
    return ["--catalog", str(file)]


def got(folder: Path) -> list[str]:
    return sorted(str(file.relative_to(folder)) for file in folder.rglob("*.gz"))


def test_a_set_is_fetched_converted_and_verified(tmp_path: Path, origin: Origin) -> None:
    options, data = catalog(tmp_path, origin), tmp_path / "data"
    assert main([*options, "get", "all", "--to", str(data)]) == 0
    assert gzip.decompress((data / DEMOS).read_bytes()) == expected()
    assert main([*options, "verify", "demos", "--to", str(data)]) == 0
    assert got(data) == [DEMOS]


def test_an_interrupted_download_continues(tmp_path: Path, origin: Origin) -> None:
    options, data = catalog(tmp_path, origin), tmp_path / "data"
    origin.breaks = [40]
    assert main([*options, "get", "demos", "--to", str(data)]) == 1
    assert got(data) == []
    assert main([*options, "get", "demos", "--to", str(data)]) == 0
    assert origin.ranges == ["bytes=40-"]
    assert gzip.decompress((data / DEMOS).read_bytes()) == expected()


def test_a_wrong_sum_changes_nothing(
    tmp_path: Path, origin: Origin, capsys: pytest.CaptureFixture[str]
) -> None:
    data = tmp_path / "data"
    (data / DEMOS).parent.mkdir(parents=True)
    (data / DEMOS).write_bytes(gzip.compress(b"older\n"))
    assert main([*catalog(tmp_path, origin, sha256="0" * 64), "get", "demos", "--to", str(data)]) == 1
    assert "is not the data that the figures used" in capsys.readouterr().err
    assert gzip.decompress((data / DEMOS).read_bytes()) == b"older\n"


def test_a_changed_original_is_named(
    tmp_path: Path, origin: Origin, capsys: pytest.CaptureFixture[str]
) -> None:
    origin.files["prompts/eli5_default.json"] = b'{"demos": [{}]}'
    assert main([*catalog(tmp_path, origin), "get", "demos", "--to", str(tmp_path / "data")]) == 1
    assert "not of the known form" in capsys.readouterr().err
    known = f'sums = {{ "prompts/asqa_default.json" = "{"0" * 64}" }}'
    options = catalog(tmp_path, origin, more=known)
    assert main([*options, "get", "demos", "--to", str(tmp_path / "data")]) == 1
    assert "asqa_default.json is not the known file: SHA-256 is" in capsys.readouterr().err


def test_terms_need_consent(tmp_path: Path, origin: Origin, capsys: pytest.CaptureFixture[str]) -> None:
    options = catalog(tmp_path, origin, more='consent = "For research only."')
    data = tmp_path / "data"
    assert main([*options, "get", "demos", "--to", str(data)]) == 1
    assert "For research only. To agree, give --accept." in capsys.readouterr().err
    assert not data.exists()
    assert main([*options, "get", "demos", "--accept", "--to", str(data)]) == 0


def test_verify_finds_a_changed_a_cut_and_a_missing_file(
    tmp_path: Path, origin: Origin, capsys: pytest.CaptureFixture[str]
) -> None:
    options, data = catalog(tmp_path, origin), tmp_path / "data"
    main([*options, "get", "demos", "--to", str(data)])
    whole = (data / DEMOS).read_bytes()
    for content, problem in (
        (gzip.compress(expected().replace(b"Moon", b"Sun!")), "SHA-256 of the content is"),
        (gzip.compress(expected()[:200]), "0 rows instead of 3"),
        (whole[:-9], "damaged"),
    ):
        (data / DEMOS).write_bytes(content)
        assert main([*options, "verify", "demos", "--to", str(data)]) == 1
        assert problem in capsys.readouterr().out
    (data / DEMOS).unlink()
    assert main([*options, "verify", "demos", "--to", str(data)]) == 1
    assert f"{DEMOS}: missing" in capsys.readouterr().out


def test_other_gzip_bytes_are_the_same_data(tmp_path: Path, origin: Origin) -> None:
    options, place = catalog(tmp_path, origin), tmp_path / "data" / DEMOS
    place.parent.mkdir(parents=True)
    place.write_bytes(gzip.compress(expected(), 1))
    assert main([*options, "verify", "demos", "--to", str(tmp_path / "data")]) == 0


def test_no_network_a_lost_file_and_a_bad_folder_are_explained(
    tmp_path: Path, origin: Origin, capsys: pytest.CaptureFixture[str]
) -> None:
    options = catalog(tmp_path, origin)
    del origin.files["prompts/qampari_default.json"]
    assert main([*options, "get", "demos", "--to", str(tmp_path / "data")]) == 1
    assert "404" in capsys.readouterr().err
    nowhere = Origin(origin.files, url="http://127.0.0.1:9")
    assert main([*catalog(tmp_path, nowhere), "get", "demos", "--to", str(tmp_path / "other")]) == 1
    assert "cannot be downloaded" in capsys.readouterr().err

    (tmp_path / "file").write_text("not a folder", encoding="utf-8")
    assert main([*catalog(tmp_path, origin), "get", "demos", "--to", str(tmp_path / "file" / "data")]) == 1
    assert "cannot be kept in" in capsys.readouterr().err


def test_a_set_without_a_converter_says_where_it_is(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["get", "wikispeedia", "--to", str(tmp_path)]) == 1
    error = capsys.readouterr().err
    assert "as pages, and their links placed, is known in words only" in error
    assert "Obtain it by hand from angelpras/epfl_ADA_project" in error
    assert main(["get", "wikispedia", "--to", str(tmp_path)]) == 2
    assert "Did you mean wikispeedia?" in capsys.readouterr().err


def test_the_catalog_names_converters_and_files_that_exist() -> None:
    sets = read_catalog()
    assert {each.converter for each in sets.values() if each.converter} == set(CONVERTERS)
    assert all(bool(each.converter) != bool(each.by_hand) for each in sets.values())
    paths = [file.path for each in sets.values() for file in each.files]
    assert len(paths) == len(set(paths))
    root = Path(__file__).parent.parent.parent
    for module in {name for each in sets.values() for name in each.used_by}:
        assert (root / f"{module.replace('.', '/')}.py").is_file(), module


def test_a_benchmark_without_data_says_how_to_get_them(tmp_path: Path) -> None:
    assert missing_sets("benchmarks.reference_ranking", tmp_path) == [
        "feedbackqa",
        "cranfield",
        "cisi",
        "trecdl20",
    ]
    environment = os.environ | {"CITEWELL_DATA": str(tmp_path)}
    run = subprocess.run(
        [sys.executable, "-m", "benchmarks.retrieval_floors"],
        capture_output=True,
        text=True,
        env=environment,
        check=False,
    )
    assert run.returncode == 1
    assert "python -m benchmarks.data get cranfield trecdl20`" in run.stderr
