"""Text must come out readable whatever a page or its server says about its charset."""

from __future__ import annotations

import pytest

from citewell.retriever.extract.charset import decode, to_utf8
from citewell.retriever.extract.page import extract

FRENCH = "L’été dernier, les élèves ont préféré la forêt à la plage : où était l’intérêt ? "
JAPANESE = "凧は風の力で空に浮かぶ遊具です。古くから世界中で親しまれ、祭りや競技にも使われています。"
CHINESE = "风筝起源于中国，最早用于军事通信。后来它成为民间的游戏，流传到世界各地。"
RUSSIAN = "Воздушный змей держится в воздухе благодаря силе ветра и натяжению верёвки. "


def page(text: str, charset: str, meta: str = "") -> bytes:
    declared = f'<meta charset="{meta}">' if meta else ""
    markup = (
        f"<!doctype html><html><head>{declared}<title>T</title></head><body><article>"
        f"<p>{text * 3}</p><p>{text * 4}</p></article></body></html>"
    )
    return markup.encode(charset)


@pytest.mark.parametrize(
    ("text", "charset", "meta", "content_type"),
    [
        (FRENCH, "utf-8", "", "text/html"),
        (FRENCH, "utf-8", "iso-8859-1", "text/html; charset=iso-8859-1"),
        (FRENCH, "cp1252", "utf-8", "text/html; charset=utf-8"),
        (FRENCH, "cp1252", "", "text/html; charset=ISO-8859-1"),
        (FRENCH, "cp1252", "nonsense-8", "text/html"),
        (JAPANESE, "shift_jis", "shift_jis", "text/html"),
        (JAPANESE, "shift_jis", "x-sjis", "text/html; charset=ISO-8859-1"),
        (JAPANESE, "shift_jis", "utf-8", "text/html; charset=utf-8"),
        (JAPANESE, "shift_jis", "iso-8859-1", "text/html"),
        (JAPANESE, "euc_jp", "", "text/html; charset=euc-jp"),
        (JAPANESE, "cp932", "", "text/html; charset=windows-31j"),
        (JAPANESE, "iso2022_jp", "iso-2022-jp", "text/html"),
        (CHINESE, "gb2312", "gb2312", "text/html"),
        (CHINESE, "gb18030", "", "text/html"),
        (CHINESE, "utf-8", "gbk", "text/html; charset=gb2312"),
        (CHINESE, "utf-16", "", "text/html"),
        (RUSSIAN, "cp1251", "windows-1251", "text/html; charset=ISO-8859-1"),
        (RUSSIAN, "koi8-r", "", "text/html; charset=koi8-r"),
    ],
)
def test_html_is_readable(text: str, charset: str, meta: str, content_type: str) -> None:
    found = extract(page(text, charset, meta), "https://example.org/a", content_type)
    assert text.strip() in " ".join(passage.text for passage in found.passages)


@pytest.mark.parametrize("charset", ["shift_jis", "utf-8", "utf-8-sig", "utf-16"])
def test_plain_text_needs_no_declaration(charset: str) -> None:
    found = extract((JAPANESE * 4).encode(charset), "notes.txt")
    assert JAPANESE in found.passages[0].text


def test_a_few_bad_bytes_do_not_spoil_a_utf8_page() -> None:
    body = (FRENCH * 10).encode() + b"\xc3 " + (FRENCH * 10).encode()
    assert decode(body).count(FRENCH.strip()) == 20
    assert decode(body, "text/html; charset=iso-8859-1").count("\ufffd") == 1


def test_a_download_cut_inside_a_character_is_still_utf8() -> None:
    body = (JAPANESE * 3).encode()[:-1]
    assert decode(body).startswith(JAPANESE * 2)


@pytest.mark.parametrize("label", ["hex", "undefined", "unicode_escape", "utf-7", "no such charset"])
def test_labels_that_are_no_charsets_of_the_web_are_ignored(label: str) -> None:
    body = f'<meta charset="{label}">'.encode() + FRENCH.encode("cp1252") * 5
    assert FRENCH.strip() in decode(body, f"text/html; charset={label}")


KOREAN = "연은 바람의 힘으로 하늘에 뜨는 놀이 기구이다. 오래전부터 세계 여러 나라에서 사랑받아 왔다. "
TAIWANESE = "風箏起源於中國，最早用於軍事通信。後來它成為民間的遊戲，流傳到世界各地。"
ARABIC = "تطير الطائرة الورقية بقوة الريح، وهي لعبة قديمة محبوبة في كثير من بلدان العالم. "
GREEK = "Ο χαρταετός πετά με τη δύναμη του ανέμου και είναι παλιό παιχνίδι σε πολλές χώρες. "
TURKISH = (
    "İstanbul, Türkiye'nin en kalabalık, ekonomik ve kültürel açıdan önemli şehridir. "
    "Boğaziçi'nin iki yakasında yer alır."
)


@pytest.mark.parametrize(
    ("text", "charset"),
    [
        (JAPANESE, "euc_jp"),
        (JAPANESE, "shift_jis"),
        (CHINESE, "gbk"),
        (TAIWANESE, "big5"),
        (KOREAN, "euc_kr"),
        (RUSSIAN, "cp1251"),
        (RUSSIAN, "koi8-r"),
        (ARABIC, "cp1256"),
        (GREEK, "cp1253"),
        (FRENCH, "cp1252"),
        (TURKISH, "cp1254"),
    ],
)
@pytest.mark.parametrize("times", [1, 4])
def test_undeclared_charsets_are_guessed(text: str, charset: str, times: int) -> None:
    html = f"<html><body><p>{text}</p></body></html>" * times
    assert decode(html.encode(charset)) == html


def test_undeclared_french_is_not_read_as_central_european() -> None:
    text = "L'été dernier, les élèves ont préféré la forêt à la plage : où était l'intérêt ?"
    assert decode(text.encode("latin-1")) == text


@pytest.mark.parametrize("body", [b"", FRENCH.encode(), FRENCH.encode()[:-3] + b"\xc3"])
def test_utf8_stays_as_it_is_but_for_a_character_cut_in_half(body: bytes) -> None:
    assert to_utf8(body) == body.removesuffix(b"\xc3")


@pytest.mark.parametrize("charset", ["utf-8-sig", "utf-16", "iso2022_jp", "euc_jp", "shift_jis"])
def test_any_charset_becomes_utf8(charset: str) -> None:
    assert to_utf8(JAPANESE.encode(charset), f"text/html; charset={charset}") == JAPANESE.encode()


@pytest.mark.parametrize(
    ("text", "charset", "label"),
    [
        ("สวัสดี", "cp874", "windows-874"),
        ("กรุงเทพ", "cp874", "iso-8859-11"),
        ("公司簡介", "big5", "cn-big5"),
        ("公司简介", "gb2312", "gb_2312-80"),
        ("שלום עולם", "iso8859-8", "iso-8859-8-e"),
        ("Żółć", "iso8859-2", "iso88592"),
    ],
)
def test_short_texts_with_labels_of_browsers(text: str, charset: str, label: str) -> None:
    assert decode(text.encode(charset), f"text/html; charset={label}") == text
