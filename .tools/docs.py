#!/usr/bin/python3
"""Builds the documents as a static site: docs/pages, the documents that stand beside the code, and generated references.

docs.py [--out DIR] [--serve]. Needs MkDocs. The programs in build/release/bin write the references of their keys, columns
and commands. A document beside the code keeps its place in the repository; its links are rewritten for the site."""

import argparse
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGES = ROOT / "docs" / "pages"
PROGRAMS = ROOT / "build" / "release" / "bin"
STAGE = ROOT / "build" / "docs"

# Document in the repository, and its page. A folder's README takes the folder's name.
BESIDE_THE_CODE = {
    ".github/ARCHITECTURE.md": "internals/architecture.md",
    ".github/CONTRIBUTING.md": "internals/contributing.md",
    ".github/RECIPES.md": "internals/recipes.md",
    ".github/CHANGELOG.md": "reference/changelog.md",
    "configs/ansible/README.md": "operate/ansible.md",
    "configs/inline/README.md": "operate/deployments.md",
    "configs/inline/scaling-out.md": "operate/several.md",
    "configs/live/README.md": "operate/both-programs.md",
    "configs/kubernetes/README.md": "operate/kubernetes.md",
    "configs/monitoring/README.md": "operate/monitoring.md",
    "configs/scenarios/MACHINES.md": "reference/machines.md",
    "configs/papers/README.md": "results/papers.md",
    "configs/papers/COVERAGE.md": "results/papers-coverage.md",
    "configs/papers/clamp.md": "results/papers-clamp.md",
    "configs/papers/clocks.md": "results/papers-clocks.md",
    "configs/papers/gwa.md": "results/papers-gwa.md",
    "configs/papers/smvs.md": "results/papers-smvs.md",
    "configs/papers/wlan.md": "results/papers-wlan.md",
    "configs/papers/wr.md": "results/papers-wr.md",
    "control/README.md": "internals/control.md",
    "control/feedback/PROTOCOL.md": "reference/protocol.md",
    "dataplane/dpdk/README.md": "internals/dpdk.md",
    "dataplane/flow/README.md": "internals/flow-tables.md",
    "dataplane/packet/README.md": "internals/packets-in-memory.md",
    "dataplane/tcp/README.md": "internals/tcp.md",
    "dataplane/tcp/REQUIREMENTS.md": "reference/requirements.md",
    "emulator/README.md": "internals/emulator.md",
    "emulator/cell/README.md": "internals/emulator-cell.md",
    "emulator/channel/README.md": "internals/emulator-channel.md",
    "emulator/provenance/README.md": "reference/provenance.md",
    "emulator/report/README.md": "internals/emulator-report.md",
    "emulator/scenario/README.md": "reference/scenarios.md",
    "proxy/CLOSING.md": "internals/closing.md",
    "proxy/GLOSSARY.md": "reference/glossary.md",
    "proxy/LIMITS.md": "reference/limits.md",
    "proxy/README.md": "internals/proxy.md",
    "proxy/SIZING.md": "operate/size.md",
    "proxy/config/REFERENCE.md": "reference/keys.md",
    "proxy/daemon/status/WORDS.md": "reference/words.md",
    "tests/bench/FIGURES.md": "results/index.md",
    "tests/bench/README.md": "results/benchmarks.md",
    "tests/conformance/README.md": "internals/conformance.md",
}
FIGURES = "tests/bench/figures"

# Page, its title, and the program with the option that prints it.
PRINTED = (
    ("reference/scenario-keys.md", "Keys of a scenario", ("nodeb", "--help-scenario")),
    ("reference/result-columns.md", "Columns of results", ("nodeb", "--help-results")),
    ("reference/sluice.md", "Command line of sluice", ("sluice", "--help")),
    ("reference/sluicectl.md", "Command line of sluicectl", ("sluicectl", "--help")),
    ("reference/nodeb.md", "Command line of nodeb", ("nodeb", "--help")),
)

LINK = re.compile(r"(!?\[(?:[^\[\]]|\[[^\]]*\])*\]\()\s*<?([^()\s>]+)>?((?:\s+\"[^\"]*\")?\s*\))")


def site_paths():
    """Maps each document of the repository to its page."""
    paths = {f"docs/pages/{page.relative_to(PAGES).as_posix()}": page.relative_to(PAGES).as_posix() for page in PAGES.rglob("*.md")}
    paths |= BESIDE_THE_CODE
    paths |= {f"{FIGURES}/{figure.name}": f"results/{figure.name}" for figure in (ROOT / FIGURES).glob("*.md")}
    return paths


def relinked(text, source, page, paths):
    """The text with its links made for the page. A link to a file that is no page becomes the file's path."""
    def replace(match):
        begin, target, end = match.groups()
        if re.match(r"[a-z][a-z0-9+.-]*:|#", target):
            return match[0]
        name, _, fragment = target.partition("#")
        file = Path(os.path.normpath(Path(source).parent / name)).as_posix()
        if file in paths:
            there = os.path.relpath(paths[file], Path(page).parent)
            return f"{begin}{there}{'#' + fragment if fragment else ''}{end}"
        if begin.startswith("!") and (ROOT / file).is_file():
            (STAGE / "pages" / "images").mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / file, STAGE / "pages" / "images" / Path(file).name)
            return f"{begin}{os.path.relpath('images/' + Path(file).name, Path(page).parent)}{end}"
        return f"{begin[:-1].strip('![]')} (`{file}`)"

    parts = re.split(r"(^```.*?^```[ \t]*$)", text, flags=re.M | re.S)
    return "".join(part if index % 2 else LINK.sub(replace, part) for index, part in enumerate(parts))


def stage():
    """Writes every page below STAGE/pages. Returns their paths."""
    shutil.rmtree(STAGE, ignore_errors=True)
    pages = STAGE / "pages"
    paths = site_paths()
    for source, page in paths.items():
        (pages / page).parent.mkdir(parents=True, exist_ok=True)
        (pages / page).write_text(relinked((ROOT / source).read_text(encoding="utf-8"), source, page, paths), encoding="utf-8")
    for sheet in PAGES.glob("*.css"):
        shutil.copy(sheet, pages)
    for page, title, (program, option) in PRINTED:
        text = subprocess.run((PROGRAMS / program, option), capture_output=True, text=True, check=True).stdout
        body = text if text.lstrip().startswith(("#", "|")) else f"```\n{text.rstrip()}\n```\n"
        (pages / page).parent.mkdir(parents=True, exist_ok=True)
        (pages / page).write_text(f"# {title}\n\n{body}" if not text.startswith("# ") else body, encoding="utf-8")
    return sorted(page.relative_to(pages).as_posix() for page in pages.rglob("*.md"))


def main():
    parser = argparse.ArgumentParser(prog="./run docs", description="Builds the documents as a static site.")
    parser.add_argument("--out", type=Path, default=ROOT / "out" / "docs", help="folder of the site (default out/docs)")
    parser.add_argument("--serve", action="store_true", help="serve the site on http://127.0.0.1:8000")
    arguments = parser.parse_args()
    missing = [program for program in ("sluice", "sluicectl", "nodeb") if not (PROGRAMS / program).is_file()]
    if missing:
        sys.exit(f"docs: {', '.join(missing)} not built: ./run build")
    pages = stage()
    shutil.copy(ROOT / "docs" / "mkdocs.yml", STAGE / "mkdocs.yml")
    command = ["mkdocs", "serve" if arguments.serve else "build", "--config-file", STAGE / "mkdocs.yml"]
    if not arguments.serve:
        command += ["--strict", "--quiet", "--site-dir", arguments.out.resolve()]
    result = subprocess.run(command, check=False)
    if result.returncode == 0 and not arguments.serve:
        print(f"{len(pages)} pages: {arguments.out / 'index.html'}")
    return result.returncode


if __name__ == "__main__":
    sys.exit(main())
