"""Settings: arguments first, then environment, then defaults."""

import pytest

from itemtrace.config import CAPTURE_CONTENT, Settings, settings
from itemtrace.errors import ConfigError
from itemtrace.limits import PROFILES, Profile, fit


def test_defaults():
    """Everything is recorded, with what is new shown."""
    assert settings(environ={}) == Settings()
    assert Settings().content


def test_environment_and_arguments():
    """The environment is read; an argument goes before it."""
    environ = {"ITEMTRACE_MESSAGES": "off", "ITEMTRACE_PROFILE": "elastic"}
    found = settings(environ=environ)
    assert (found.messages, found.profile) == ("off", PROFILES["elastic"])
    own = Profile("own", value_bytes=500)
    found = settings(
        messages="full", profile=own, compat=True, state=False, environ=environ
    )
    assert found == Settings(messages="full", profile=own, compat=True, state=False)


@pytest.mark.parametrize(
    "value", ["false", "False", "0", "NO_CONTENT", "EVENT_ONLY", " no_content "]
)
def test_content_is_withheld(value):
    """OpenTelemetry's switch, in its old and new words."""
    assert not settings(environ={CAPTURE_CONTENT: value}).content


@pytest.mark.parametrize("value", ["", "true", "SPAN_ONLY", "SPAN_AND_EVENT"])
def test_content_is_kept(value):
    """Unset and every other word keep content."""
    assert settings(environ={CAPTURE_CONTENT: value}).content


def test_redactors_are_kept_in_order():
    """As given."""
    assert settings(redact=[len, print], environ={}).redact == (len, print)


@pytest.mark.parametrize(
    ("wrong", "text"),
    [
        (
            {"messages": "some"},
            "messages='some' is not known; choose one of delta, full, off",
        ),
        (
            {"profile": "tiny"},
            "profile='tiny' is not known; choose one of portable, ascii",
        ),
        ({"redact": [1]}, "redact= takes functions"),
    ],
)
def test_wrong_values(wrong, text):
    """The message says what was given and what is known."""
    with pytest.raises(ConfigError, match=text):
        settings(environ={}, **wrong)


def test_profiles_are_listed_by_their_names():
    """A name finds its profile."""
    assert {name: profile.name for name, profile in PROFILES.items()} == {
        n: n for n in PROFILES
    }


@pytest.mark.parametrize(
    ("length", "expected"), [(None, 2_000), (5_000, 2_000), (2_000, 2_000), (300, 300)]
)
def test_fit(length, expected):
    """A live limit makes values shorter, never longer."""
    assert fit(PROFILES["portable"], length).value_bytes == expected
