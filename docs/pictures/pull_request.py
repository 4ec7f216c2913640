"""Make pull-request.png, what a pull request shows of the review that `reviewbot demo` makes.

It needs markdown-it-py (rich brings it along) and chromium: python docs/pictures/pull_request.py
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
from html import escape
from pathlib import Path

import msgspec
from markdown_it import MarkdownIt

from reviewbot.reports.markdown import Page, comment, summary
from reviewbot.verdict.document import Finding, Review

PICTURE = Path(__file__).with_name("pull-request.png")
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")
WIDTH = 860
PULL = "https://github.com/octo/shop/pull/7"
# The defects whose comments are shown below the summary.
SHOWN = ("shop/cart.py", "shop/catalog.py")
STYLE = """
body { margin: 0; padding: 20px; background: #fff; color: #1f2328; width: 820px;
  font: 14px/1.5 -apple-system, "Segoe UI", "Noto Sans", "Liberation Sans", Helvetica, sans-serif }
.box { border: 1px solid #d1d9e0; border-radius: 6px; margin-bottom: 16px; overflow: hidden }
.head { background: #f6f8fa; border-bottom: 1px solid #d1d9e0; padding: 8px 16px; color: #59636e }
.head b { color: #1f2328 } .head i { font-style: normal; border: 1px solid #d1d9e0;
  border-radius: 2em; padding: 0 7px; font-size: 12px; margin-left: 4px }
.body { padding: 16px } .body > :first-child { margin-top: 0 } .body > :last-child { margin: 0 }
.line { background: #dafbe1; font: 12px/20px monospace; padding: 2px 16px; white-space: pre }
p, ul, pre, details, table { margin: 0 0 14px } ul { padding-left: 2em }
h3 { font-size: 1.15em; margin: 18px 0 10px } a { color: #0969da; text-decoration: none }
code { background: #818b981f; border-radius: 6px; padding: .2em .4em; font: 85% monospace }
pre { background: #f6f8fa; border-radius: 6px; padding: 12px; overflow: hidden }
pre code { background: none; padding: 0; font-size: 12px }
table { border-collapse: collapse } td, th { border: 1px solid #d1d9e0; padding: 5px 12px }
summary { margin-bottom: 8px } hr { border: 0; border-top: 1px solid #d1d9e0; margin: 18px 0 }
"""
# The browser puts the height of the page where `--dump-dom` prints it.
MEASURE = "<script>document.title = document.documentElement.scrollHeight</script>"


def main() -> None:
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser is None:
        sys.exit(f"none of {', '.join(BROWSERS)} is installed")
    command = (sys.executable, "-m", "reviewbot", "demo", "--format", "json")
    ended = subprocess.run(command, check=True, capture_output=True)
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder, "page.html")
        page.write_text(html_of(msgspec.json.decode(ended.stdout, type=Review)), "utf-8")
        run = (browser, "--headless", "--no-sandbox", "--hide-scrollbars")
        run += (f"--user-data-dir={folder}", f"--window-size={WIDTH},400")
        measured = subprocess.run((*run, "--dump-dom", page.as_uri()), capture_output=True)
        found = re.search(rb"<title>(\d+)</title>", measured.stdout)
        if found is None:
            sys.exit(measured.stderr.decode())
        size = f"--window-size={WIDTH},{int(found[1])}"
        # A smaller scale keeps the file below 200 KB.
        shot = (
            *run,
            size,
            "--force-device-scale-factor=0.9",
            f"--screenshot={PICTURE}",
            page.as_uri(),
        )
        subprocess.run(shot, check=True, capture_output=True)


def html_of(review: Review) -> str:
    """The summary as it is when each finding at a line has its thread, and two of the threads."""
    links = {
        finding.id: f"{PULL}#discussion_r{number}"
        for number, finding in enumerate(review.reported, start=1)
        if finding.location and finding.location.line
    }
    page = Page(links=links, run_url="https://github.com/octo/shop/actions/runs/12")
    boxes = [_box("commented", summary(review, page))]
    for path in SHOWN:
        finding = next(f for f in review.reported if f.location and f.location.path == path)
        text = comment(finding)
        if path == SHOWN[-1]:  # as if the reader had opened it
            text = text.replace("<details>", "<details open>", 1)
        boxes.append(_box(f"reviewed <code>{path}</code>", text, finding))
    head = f"<meta charset=utf-8><title></title><style>{STYLE}</style>"
    return f"<!DOCTYPE html>{head}<body>{''.join(boxes)}{MEASURE}"


def _box(what: str, text: str, finding: Finding | None = None) -> str:
    markdown = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
    line = ""
    if finding and finding.location:
        line = f"{finding.location.line} + {finding.excerpt}"
        line = f"<div class=line>{escape(line)}</div>"
    head = f"<div class=head><b>github-actions</b> <i>bot</i> {what}</div>"
    return f"<div class=box>{head}{line}<div class=body>{markdown.render(text)}</div></div>"


if __name__ == "__main__":
    main()
