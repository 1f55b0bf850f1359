"""The Debian packages of compilers and interpreters, for messages about those that are missing."""

from __future__ import annotations

_PACKAGES = {
    "bash": "bash",
    "c++": "g++",
    "cargo": "cargo",
    "cc": "gcc",
    "clang": "clang",
    "clang++": "clang",
    "cmake": "cmake",
    "fpc": "fpc",
    "g++": "g++",
    "gcc": "gcc",
    "ghc": "ghc",
    "go": "golang-go",
    "java": "default-jre-headless",
    "javac": "default-jdk-headless",
    "jar": "default-jdk-headless",
    "kotlinc": "kotlin",
    "lua": "lua5.4",
    "make": "make",
    "node": "nodejs",
    "npm": "npm",
    "ocamlc": "ocaml",
    "ocamlopt": "ocaml",
    "perl": "perl",
    "php": "php-cli",
    "python3": "python3",
    "ruby": "ruby",
    "rustc": "rustc",
    "scalac": "scala",
}
#: Where to get programs that Debian doesn't have.
_ELSEWHERE = {"dotnet": "Debian has no package of it: see https://dotnet.microsoft.com/download", "zig": "see https://ziglang.org/download"}


def how_to_install(program: str) -> str:
    """Return how to install a compiler or an interpreter, as the end of a sentence; "" if it isn't known."""
    package = _PACKAGES.get(program)
    return f"on Debian: apt install {package}" if package else _ELSEWHERE.get(program, "")
