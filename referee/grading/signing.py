"""Ed25519 keys in PEM files. With the certificates, the only module that uses ``cryptography`` (extra ``sign``): a key needs no other package."""

from __future__ import annotations

import hashlib
import os
import re
from contextlib import ExitStack, suppress
from functools import partial
from pathlib import Path

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
    load_pem_private_key,
    load_pem_public_key,
)

from referee.errors import UsageError
from referee.replay.paths import content

#: A key file has about 120 bytes.
_MOST_BYTES = 1 << 20


def fingerprint(public: Ed25519PublicKey) -> str:
    """Return the SHA-256 of a public key's 32 bytes, as 64 hexadecimal digits."""
    return hashlib.sha256(public.public_bytes_raw()).hexdigest()


def public_path(private: Path) -> Path:
    """Return where the public key is written: ``grader.pem`` has ``grader.pub.pem`` beside it."""
    return private.with_name(f"{private.name.removesuffix('.pem')}.pub.pem")


def make(private: Path) -> str:
    """Make a key pair and write both files. Return the fingerprint. UsageError if one of the files is there or can't be written."""
    key = Ed25519PrivateKey.generate()
    texts = {
        public_path(private): (key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo), 0o644),
        private: (key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()), 0o600),
    }
    try:
        with ExitStack() as undone:
            for path, (text, mode) in texts.items():
                # Exclusive: a key that is overwritten is lost, and with it the proof of what it signed.
                with open(path, "xb", opener=partial(os.open, mode=mode)) as file:
                    undone.callback(path.unlink, missing_ok=True)
                    file.write(text)
            undone.pop_all()
    except FileExistsError as error:
        raise UsageError(f"{error.filename} is there already, and a key is never overwritten; name another file with --out.") from None
    except (OSError, ValueError) as error:
        raise UsageError(f"The key {private} can't be written: {getattr(error, 'strerror', None) or error}.") from None
    return fingerprint(key.public_key())


def read(path: Path) -> tuple[object, str]:
    """Return the private or public key of a PEM file, None if none can be read without a password; and which it says that it holds, or ""."""
    text = content(path, f"The key {path}", _MOST_BYTES)
    kind = "private" if b"PRIVATE KEY" in text else "public" if b"PUBLIC KEY" in text else ""
    for load in (partial(load_pem_private_key, password=None), load_pem_public_key):
        with suppress(TypeError, ValueError, UnsupportedAlgorithm):
            return load(text), kind
    return None, kind


def wanted(given: str) -> str:
    """Return the fingerprint that is asked for, by itself or by the file of a public key."""
    text = given.strip().lower()
    if re.fullmatch("[0-9a-f]{64}", text):
        return text
    if not os.path.lexists(given):
        raise UsageError(f"{given} is neither a fingerprint, which has 64 hexadecimal digits, nor the file of a public key.")
    key, kind = read(Path(given))
    if not isinstance(key, Ed25519PublicKey):
        hint = f"; it holds a private key: name {public_path(Path(given))}" if kind == "private" else ""
        raise UsageError(f"{given} holds no public key of Ed25519{hint}.")
    return fingerprint(key)
