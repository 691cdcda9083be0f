"""Documents made by hand, and translators of which one knows what they do."""

import re
import zipfile
from collections.abc import Sequence
from io import BytesIO

from heedful.documents.kinds import read_document

WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
DRAWING = "http://schemas.openxmlformats.org/drawingml/2006/main"
TEXT = "urn:oasis:names:tc:opendocument:xmlns:text:1.0"
OFFICE = "urn:oasis:names:tc:opendocument:xmlns:office:1.0"


def shouted(text: str) -> str:
    """Translate into capitals, and leave tags and entities as they are."""
    return re.sub(r"<[^<>]*>|&\w+;|[^<&]+|.", _shouted, text)


def _shouted(match: re.Match[str]) -> str:
    return match[0] if re.fullmatch(r"<[^<>]*>|&\w+;", match[0]) else match[0].upper()


def translated(content: bytes, name: str, translate=shouted) -> bytes:
    document = read_document(content, name)
    return document.written([translate(text) for text in document.texts])


def texts_of(content: bytes, name: str) -> Sequence[str]:
    return read_document(content, name).texts


def archive(members: dict[str, str | bytes], stored: tuple[str, ...] = ()) -> bytes:
    """Write an archive of these files, in order."""
    written = BytesIO()
    with zipfile.ZipFile(written, "w") as file:
        for name, content in members.items():
            kind = zipfile.ZIP_STORED if name in stored else zipfile.ZIP_DEFLATED
            file.writestr(name, content, kind)
    return written.getvalue()


def member(content: bytes, name: str) -> str:
    with zipfile.ZipFile(BytesIO(content)) as file:
        assert file.testzip() is None
        return file.read(name).decode()


def docx(body: str, **others: str) -> bytes:
    document = f'<w:document xmlns:w="{WORD}"><w:body>{body}</w:body></w:document>'
    return archive(
        {"[Content_Types].xml": "<Types/>", "word/document.xml": document, "a.png": b"\x89PNG\0"}
        | {f"word/{name}.xml": content for name, content in others.items()}
    )


def odt(body: str) -> bytes:
    content = (
        f'<office:document-content xmlns:office="{OFFICE}" xmlns:text="{TEXT}"><office:body>'
        f"{body}</office:body></office:document-content>"
    )
    kind = "application/vnd.oasis.opendocument.text"
    return archive({"mimetype": kind, "content.xml": content}, stored=("mimetype",))


def pptx(paragraphs: str) -> bytes:
    slide = f'<p:sld xmlns:p="p" xmlns:a="{DRAWING}"><p:txBody>{paragraphs}</p:txBody></p:sld>'
    return archive({"ppt/slides/slide1.xml": slide, "ppt/media/a.png": b"\x89PNG\0"})
