from tests.documents.making import archive, member, texts_of, translated


def test_pages_and_the_table_of_contents_are_translated():
    content = archive(
        {
            "mimetype": "application/epub+zip",
            "OEBPS/a.xhtml": '<?xml version="1.0"?><html><body><p>One <i>two</i></p></body></html>',
            "OEBPS/toc.ncx": "<ncx><navLabel><text>One</text></navLabel></ncx>",
            "OEBPS/content.opf": "<package><title>kept</title></package>",
        }
    )

    assert texts_of(content, "a.epub") == ["One <x0>two</x0>", "One"]
    done = translated(content, "a.epub")
    assert "<p>ONE <i>TWO</i></p>" in member(done, "OEBPS/a.xhtml")
    assert "<text>ONE</text>" in member(done, "OEBPS/toc.ncx")
    assert "kept" in member(done, "OEBPS/content.opf")
