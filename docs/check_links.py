"""Check the links of a built site: ``python docs/check_links.py docs/_build/html``.

Links inside the site lead to files that exist, and to anchors that their pages have. Addresses outside are checked for their form
alone: nothing is fetched.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

_LINKS = {"a": "href", "link": "href", "img": "src", "script": "src", "source": "srcset"}
_SCHEMES = ("data", "javascript", "mailto")
_HOST = re.compile(r"([a-z0-9]([a-z0-9-]*[a-z0-9])?\.)+[a-z]{2,}(:\d+)?", re.IGNORECASE)


class _Page(HTMLParser):
    """The links and anchors of a page."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.links: set[str] = set()
        self.anchors: set[str] = set()
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        """Note where an element leads, and what it is called."""
        values = {name: value for name, value in attributes if value}
        self.anchors |= {values[name] for name in ("id", "name") if name in values}
        target = values.get(_LINKS.get(tag, ""))
        if target and tag == "source":
            self.links |= {part.split()[0] for part in target.split(",")}
        elif target:
            self.links.add(target)


def broken_links(site: Path) -> Iterator[str]:
    """Yield a line for each link of a built site that leads nowhere, or is not an address."""
    written = (path for path in sorted(site.rglob("*.html")) if "_static" not in path.parts)  # templates of the theme
    pages = {path.resolve(): _Page(path) for path in written}
    for path, page in pages.items():
        for link in sorted(page.links):
            reason = _fault(pages, path, link)
            if reason:
                yield f"{path.relative_to(site.resolve())}: {link}: {reason}"


def _fault(pages: dict[Path, _Page], path: Path, link: str) -> str | None:
    parts = urlsplit(link)
    if parts.scheme in _SCHEMES:
        return None
    if parts.scheme or parts.netloc:
        known = parts.scheme in ("http", "https") and _HOST.fullmatch(parts.netloc) and " " not in link
        return None if known else "not an address"
    target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
    if not target.exists():
        return "no such file"
    anchor = unquote(parts.fragment)
    if anchor and target in pages and anchor not in pages[target].anchors:
        return "no such anchor"
    return None


def main(site: Path) -> int:
    """Print the broken links of a site; return their number, at most 1."""
    found = list(broken_links(site))
    print(
        "\n".join(found)
        if found
        else f"every link of the {len(list(site.rglob('*.html')))} pages of {site} leads somewhere"
    )
    return min(1, len(found))


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
