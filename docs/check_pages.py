"""Look at every page of a built site in Chromium: ``python docs/check_pages.py docs/_build/html``.

Each page is loaded in a frame of 1200 and then of 500 pixels. A page that is wider than its frame, and a picture that is not
drawn, are faults.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from queue import Empty, Queue
from tempfile import TemporaryDirectory
from threading import Thread

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
WIDTHS = (1200, 500)
_SECONDS = 300
_LOOK, _FOUND = "/look", "/found"

_HARNESS = """<!doctype html><title>look</title><body><script>
const pages = PAGES, widths = WIDTHS, faults = [];
const wait = seconds => new Promise(done => setTimeout(done, 1000 * seconds));
function widest(doc, width) {
  const out = [...doc.body.querySelectorAll("*")].filter(e => e.getBoundingClientRect().right > width + 1);
  const last = out[out.length - 1];
  return last ? `<${last.tagName.toLowerCase()} class="${last.className}"> ${last.textContent.trim().slice(0, 60)}` : "";
}
async function look(page) {
  const frame = document.createElement("iframe");
  frame.style.cssText = `border:0;height:900px;width:${widths[0]}px`;
  const loaded = new Promise(done => { frame.onload = done; });
  frame.src = page;
  document.body.append(frame);
  await Promise.race([loaded, wait(20)]);
  const doc = frame.contentDocument;
  for (const image of doc.images) image.loading = "eager";
  await Promise.race([Promise.allSettled([...doc.images].map(image => image.decode())), wait(10)]);
  for (const image of doc.images)
    if (!image.complete || !image.naturalWidth) faults.push(`${page}: the picture ${image.getAttribute("src")} is not drawn`);
  for (const width of widths) {
    frame.style.width = `${width}px`;
    const needed = doc.scrollingElement.scrollWidth;
    if (needed > width) faults.push(`${page}: ${needed} pixels wide in a window of ${width}: ${widest(doc, width)}`);
  }
  frame.remove();
}
async function worker() { while (pages.length) await look(pages.shift()).catch(e => faults.push(String(e))); }
Promise.all([1, 2, 3, 4].map(worker)).then(() => fetch("FOUND", {method: "POST", body: JSON.stringify(faults)}));
</script>"""


class _Handler(SimpleHTTPRequestHandler):
    """Serves the site and the page that looks at it, and takes its findings."""

    def __init__(self, *arguments: object, harness: str, found: Queue[list[str]], directory: str) -> None:
        self.harness, self.found = harness.encode(), found
        super().__init__(*arguments, directory=directory)  # type: ignore[arg-type]

    def do_GET(self) -> None:
        """Serve a file, or the page that looks."""
        if self.path != _LOOK:
            super().do_GET()
            return
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.end_headers()
        self.wfile.write(self.harness)

    def do_POST(self) -> None:
        """Take the findings."""
        self.found.put(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
        self.send_response(204)
        self.end_headers()

    def log_message(self, *arguments: object) -> None:
        """Say nothing."""


def faults(site: Path, browser: str, seconds: float = _SECONDS) -> list[str]:
    """Return a line for each page that is too wide, and for each picture that is not drawn."""
    pages = [path.relative_to(site).as_posix() for path in sorted(site.rglob("*.html")) if "_static" not in path.parts]
    harness = (
        _HARNESS.replace("PAGES", json.dumps(pages)).replace("WIDTHS", json.dumps(WIDTHS)).replace("FOUND", _FOUND)
    )
    found: Queue[list[str]] = Queue()
    handler = partial(_Handler, harness=harness, found=found, directory=str(site))
    with (
        ThreadingHTTPServer(("127.0.0.1", 0), handler) as server,
        TemporaryDirectory(ignore_cleanup_errors=True) as profile,
    ):
        Thread(target=server.serve_forever, daemon=True).start()
        options = [
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--remote-debugging-port=0",
            f"--user-data-dir={profile}",
        ]
        address = f"http://127.0.0.1:{server.server_port}{_LOOK}"
        window = subprocess.Popen([browser, *options, address], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            return sorted(found.get(timeout=seconds))
        except Empty:
            return [f"{site}: Chromium said nothing within {seconds:g} seconds"]
        finally:
            window.terminate()
            window.wait()
            server.shutdown()


def main(site: Path) -> int:
    """Print the faults of a site; return their number, at most 1."""
    if BROWSER is None:
        print("there is no Chromium here: the pages were not looked at")
        return 0
    found = faults(site, BROWSER)
    print("\n".join(found) if found else f"every page of {site} fits in {WIDTHS[0]} and {WIDTHS[1]} pixels")
    return min(1, len(found))


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
