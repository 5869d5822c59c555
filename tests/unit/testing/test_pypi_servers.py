"""Environments of servers: made once, and a reason where they cannot be made."""

import pytest

from itemtrace.testing import pypi_servers, servers


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """Gives an empty cache."""
    monkeypatch.setenv("ITEMTRACE_CACHE", str(tmp_path))
    return tmp_path


def test_an_environment_is_made_once(cache, monkeypatch):
    """The programs are there afterwards, and nothing is installed again."""
    monkeypatch.setitem(
        pypi_servers.PINNED, "little", "pip"
    )  # there already: no network
    programs = pypi_servers.environment("little")
    assert (programs / "python").exists()
    made = programs.stat().st_mtime_ns
    assert pypi_servers.require_environment("little") == programs
    assert programs.stat().st_mtime_ns == made


def test_what_cannot_be_installed(cache, monkeypatch):
    """A test is skipped with what pip said, or fails where backends are required."""
    monkeypatch.setitem(pypi_servers.PINNED, "none", str(cache / "not-there"))
    monkeypatch.delenv(servers.REQUIRE, raising=False)
    with pytest.raises(
        pytest.skip.Exception, match=r"cannot be installed: (.|\n)*not-there"
    ):
        pypi_servers.require_environment("none")
    monkeypatch.setattr(pypi_servers, "install", refuse)
    monkeypatch.setenv(servers.REQUIRE, "1")
    with pytest.raises(pytest.fail.Exception, match=r"cannot be installed: .*no disk"):
        pypi_servers.require_environment("none")


def refuse(place, requirement):
    """Fails as a full disk does."""
    raise OSError(28, "no disk")


def test_the_cache_of_the_user(monkeypatch):
    """Without ITEMTRACE_CACHE the environments are in the user's cache."""
    monkeypatch.delenv("ITEMTRACE_CACHE", raising=False)
    assert pypi_servers.cache().parts[-2:] == (".cache", "itemtrace")


@pytest.mark.parametrize(
    ("run", "program", "said"),
    [
        (pypi_servers.phoenix, "phoenix", "serve"),
        (pypi_servers.mlflow, "mlflow", "server"),
    ],
)
def test_a_server_that_ends(tmp_path, run, program, said):
    """A program that ends at once is an error with its output; it got its ports."""
    fake = tmp_path / program
    fake.write_text('#!/bin/sh\necho "started with $*, at $HTTP_ENDPOINT"\nexit 3\n')
    fake.chmod(0o700)
    with (
        pytest.raises(
            servers.ServerError, match=rf"started with {said}.* at 127\.0\.0\.1:\d+"
        ),
        run(tmp_path),
    ):
        pass
