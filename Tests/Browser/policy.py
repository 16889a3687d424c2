#!/usr/bin/python3
"""Keeps the Content-Security-Policy of the gallery's pages: it names the SHA-256 of the one style and the one script that each
page has, so that a browser runs nothing else, whatever the data are.

  Tests/Browser/policy.py            checks; fails when a page has changed and its policy has not
  Tests/Browser/policy.py --write    writes the digests into the pages
"""
import base64
import hashlib
import pathlib
import re
import sys

PAGES = pathlib.Path(__file__).resolve().parents[2] / "Sources/Gallery"


def with_digests(text):
    """The template with the digests that the style and the script of its page have."""
    for tag, part in (("style", "page.css"), ("script", "page.js")):
        (body,) = re.findall(rf"<{tag}>(.*?)</{tag}>", text, re.DOTALL)
        body = body.replace(f"/*{tag.upper()}*/", (PAGES / part).read_text(), 1)
        digest = base64.b64encode(hashlib.sha256(body.encode()).digest()).decode()
        text, found = re.subn(rf"({tag}-src) 'sha256-[^']*'", lambda match: f"{match[1]} 'sha256-{digest}'", text)
        assert found == 1, f"the policy has {found} {tag}-src"
    return text


def main(arguments):
    if arguments not in ([], ["--write"]):
        print(__doc__.strip(), file=sys.stderr)
        return 64
    stale = []
    for page in sorted(PAGES.glob("*.html")):
        text = page.read_text()
        if with_digests(text) == text:
            continue
        stale.append(page.name)
        if arguments:
            page.write_text(with_digests(text))
    if stale and not arguments:
        print(f"policy: {', '.join(stale)} has changed; run Tests/Browser/policy.py --write", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
