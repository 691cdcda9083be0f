import gettext
import shutil
import subprocess

import pytest

from tests.documents.making import translated

CATALOGUE = r"""# a comment
msgid ""
msgstr ""
"Content-Type: text/plain; charset=UTF-8\n"
"Plural-Forms: nplurals=2; plural=(n != 1);\n"

#, c-format
msgid "Say \"%s\"\n"
msgstr ""

msgctxt "menu"
msgid ""
"two "
"parts"
msgstr ""

msgid "done"
msgstr "fertig"

msgid "one file"
msgid_plural "%d files"
msgstr[0] ""
msgstr[1] ""

#~ msgid "old"
#~ msgstr ""
"""


def po(source: str) -> str:
    return translated(source.encode(), "a.po").decode()


def test_messages_without_a_translation_get_one():
    done = po(CATALOGUE)

    assert r'msgstr "SAY \"%S\"\n"' in done
    assert 'msgid ""\n"two "\n"parts"\nmsgstr "TWO PARTS"' in done
    assert 'msgstr "fertig"' in done
    assert 'msgstr[0] "ONE FILE"\nmsgstr[1] "%D FILES"' in done
    assert done.endswith('#~ msgid "old"\n#~ msgstr ""\n')
    assert "Content-Type: text/plain" in done


@pytest.mark.skipif(not shutil.which("msgfmt"), reason="gettext is not installed")
def test_gettext_reads_what_was_written(tmp_path):
    (tmp_path / "a.po").write_text(po(CATALOGUE).replace("#, c-format\n", ""))

    subprocess.run(["msgfmt", "a.po", "-o", "a.mo"], cwd=tmp_path, check=True)

    with (tmp_path / "a.mo").open("rb") as file:
        catalogue = gettext.GNUTranslations(file)
    assert catalogue.pgettext("menu", "two parts") == "TWO PARTS"
    assert catalogue.ngettext("one file", "%d files", 2) == "%D FILES"
