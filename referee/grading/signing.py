"""Ed25519 keys in PEM files, and signatures. This is the only module that uses ``cryptography`` (extra ``sign``)."""

from __future__ import annotations

import hashlib
import os
from contextlib import ExitStack
from functools import partial
from typing import TYPE_CHECKING

from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
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

if TYPE_CHECKING:
    from pathlib import Path

#: A key file has about 120 bytes.
_MOST_BYTES = 1 << 20


def fingerprint(public: bytes) -> str:
    """Return the SHA-256 of a public key's 32 bytes, as 64 hexadecimal digits."""
    return hashlib.sha256(public).hexdigest()


def public_path(private: Path) -> Path:
    """Return where the public key is written: ``grader.pem`` has ``grader.pub.pem`` beside it."""
    return private.with_name(f"{private.name.removesuffix('.pem')}.pub.pem")


def make(private: Path) -> bytes:
    """Make a key pair and write both files. Return the public key. UsageError if one of the files is there or can't be written."""
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
    return public_of(key)


def read_private(path: Path) -> Ed25519PrivateKey:
    """Return the private key of a file. UsageError if it holds none."""
    text = _read(path)
    try:
        key = load_pem_private_key(text, None)
    except (TypeError, ValueError, UnsupportedAlgorithm):
        key = None
    if not isinstance(key, Ed25519PrivateKey):
        hint = "; it holds a public key, which can't sign" if b"PUBLIC KEY" in text else ""
        raise UsageError(f"{path} holds no private key of Ed25519 without a password{hint}; make one: referee certificate new-key")
    return key


def read_public(path: Path) -> bytes:
    """Return the public key of a file. UsageError if it holds none."""
    text = _read(path)
    try:
        key = load_pem_public_key(text)
    except (ValueError, UnsupportedAlgorithm):
        key = None
    if not isinstance(key, Ed25519PublicKey):
        hint = f"; it holds a private key: name {public_path(path)}" if b"PRIVATE KEY" in text else ""
        raise UsageError(f"{path} holds no public key of Ed25519{hint}.")
    return key.public_bytes(Encoding.Raw, PublicFormat.Raw)


def public_of(key: Ed25519PrivateKey) -> bytes:
    """Return the public key of a private one, as 32 bytes."""
    return key.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)


def is_signed(public: bytes, signature: bytes, data: bytes) -> bool:
    """True if the signature is that of the public key over the data."""
    try:
        Ed25519PublicKey.from_public_bytes(public).verify(signature, data)
    except (InvalidSignature, ValueError):
        return False
    return True


def _read(path: Path) -> bytes:
    return content(path, f"The key {path}", _MOST_BYTES)
