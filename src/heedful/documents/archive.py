"""Documents that are ZIP archives of XML, read within bounds."""

import zipfile
import zlib
from collections.abc import Callable, Sequence
from io import BytesIO
from typing import NamedTuple

from lxml import etree
from lxml.etree import _Element as Element

from heedful.documents.document import Document
from heedful.errors import CorpusError

MOST_MEMBERS = 10_000
MOST_BYTES = 256 << 20  # of all members, unpacked
MOST_OF_ONE = 64 << 20  # of one that is read
_MOST_RATIO = 500  # unpacked to packed, above some size: XML of tables comes to a hundred
_SMALL = 1 << 20
_DAMAGED = (zipfile.BadZipFile, zlib.error, EOFError, OSError, ValueError, NotImplementedError)


class Member(NamedTuple):
    """One file of an archive with texts: what they are, and how it is written with translations."""

    name: str
    texts: Sequence[str]
    put_in: Callable[[Sequence[str]], bytes]


def archive_document(
    content: bytes,
    name: str,
    is_read: Callable[[str], bool],
    read: Callable[[str, bytes], Member],
) -> Document:
    """Read the members that have texts; all others come back as they were."""
    try:
        with zipfile.ZipFile(BytesIO(content)) as archive:
            _refuse_bombs(archive.infolist(), name)
            members = [
                read(info.filename, archive.read(info))
                for info in archive.infolist()
                if is_read(info.filename)
            ]
    except RuntimeError as error:  # what zipfile says of a password
        raise CorpusError(f"{name}: is protected by a password; save it without one") from error
    except _DAMAGED as error:
        raise CorpusError(f"{name}: is damaged, or no file of its kind ({error})") from error
    texts = [text for member in members for text in member.texts]

    def put_in(translations: Sequence[str]) -> bytes:
        changed, at = {}, 0
        for member in members:
            own = list(translations[at : at + len(member.texts)])
            at += len(member.texts)
            if own != list(member.texts):
                changed[member.name] = member.put_in(own)
        return _rewritten(content, changed)

    return Document(content, texts, put_in)


def parse_xml(content: bytes, name: str) -> Element:
    """Parse XML that declares nothing, fetches nothing and expands nothing."""
    parser = etree.XMLParser(
        resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False
    )
    try:
        root = etree.fromstring(content, parser)
    except etree.XMLSyntaxError as error:
        raise CorpusError(f"{name}: is damaged ({error.msg})") from error
    if root.getroottree().docinfo.doctype or any(True for _ in root.iter(etree.Entity)):
        raise CorpusError(f"{name}: declares entities, which documents do not need; it is refused")
    return root


def write_xml(root: Element) -> bytes:
    """Write XML as office programs do."""
    written: bytes = etree.tostring(
        root.getroottree(), encoding="UTF-8", xml_declaration=True, standalone=True
    )
    return written


def _refuse_bombs(infos: Sequence[zipfile.ZipInfo], name: str) -> None:
    """Refuse what would unpack to more than any document; the sizes are held to when it is read."""
    size = sum(info.file_size for info in infos)
    packed = sum(info.compress_size for info in infos)
    names = [info.filename for info in infos]
    largest = max((info.file_size for info in infos if _is_xml(info.filename)), default=0)
    if (
        len(infos) > MOST_MEMBERS
        or size > MOST_BYTES
        or largest > MOST_OF_ONE
        or (size > _SMALL and size > _MOST_RATIO * max(packed, 1))
    ):
        raise CorpusError(f"{name}: unpacks to {size:,} bytes in {len(infos):,} files; too much")
    if len(set(names)) != len(names):
        raise CorpusError(f"{name}: is damaged, it has two files of one name")


def _is_xml(name: str) -> bool:
    return name.lower().endswith((".xml", ".xhtml", ".html", ".htm", ".ncx"))


def _rewritten(content: bytes, changed: dict[str, bytes]) -> bytes:
    """Write an archive anew, in the order it had, with other content in some members."""
    written = BytesIO()
    with zipfile.ZipFile(BytesIO(content)) as before, zipfile.ZipFile(written, "w") as after:
        after.comment = before.comment
        for info in before.infolist():
            after.writestr(
                info, changed.get(info.filename) or before.read(info), info.compress_type
            )
    return written.getvalue()
