"""Ed25519 keys in PEM files. With the certificates, the only module that uses ``cryptography`` (extra ``sign``): a key needs no other package."""

from __future__ import annotations

import hashlib
import os
import re
from contextlib import ExitStack, suppress
from functools import partial
from pathlib import Path

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives import serialization as pem
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

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
        public_path(private): (key.public_key().public_bytes(pem.Encoding.PEM, pem.PublicFormat.SubjectPublicKeyInfo), 0o644),
        private: (key.private_bytes(pem.Encoding.PEM, pem.PrivateFormat.PKCS8, pem.NoEncryption()), 0o600),
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


def private_key(path: Path) -> Ed25519PrivateKey:
    """Return the private key of a PEM file. UsageError if it holds none that can be read without a password."""
    key, text = _read(path)
    if isinstance(key, Ed25519PrivateKey):
        return key
    hint = "; it holds a public key, which can't sign" if b"PUBLIC KEY" in text else ""
    raise UsageError(f"{path} holds no private key of Ed25519 without a password{hint}; make one: referee certificate new-key")


def wanted(given: str) -> str:
    """Return the fingerprint that is asked for, by itself or by the file of a public key. UsageError if it is neither."""
    text = given.strip().lower()
    if re.fullmatch("[0-9a-f]{64}", text):
        return text
    if not os.path.lexists(given):
        raise UsageError(f"{given} is neither a fingerprint, which has 64 hexadecimal digits, nor the file of a public key.")
    key, content_ = _read(Path(given))
    if isinstance(key, Ed25519PublicKey):
        return fingerprint(key)
    hint = f"; it holds a private key: name {public_path(Path(given))}" if b"PRIVATE KEY" in content_ else ""
    raise UsageError(f"{given} holds no public key of Ed25519{hint}.")


def _read(path: Path) -> tuple[object, bytes]:
    """Return the key of a PEM file, None if none can be read without a password, and the file's text."""
    text = content(path, f"The key {path}", _MOST_BYTES)
    for load in (partial(pem.load_pem_private_key, password=None), pem.load_pem_public_key):
        with suppress(TypeError, ValueError, UnsupportedAlgorithm):
            return load(text), text
    return None, text
