"""Deals that can be checked: a table shows the hash of a match's secret before the match, and the secret after it.

The secret holds the seed of the deals and a random part, so the hash tells nothing about the seed, and the server
cannot find another secret with the same hash. Who compares both knows that the deals were settled before the match.
"""

import hashlib
import json
import re
import secrets

from okey_env.record import Record


def new_secret(seed: int) -> str:
    """A secret for a match with this seed: the seed, and 128 random bits."""
    return f"{seed}-{secrets.token_hex(16)}"


def hash_of(secret: str) -> str:
    """The SHA-256 of a secret, as 64 hexadecimal digits: what `printf %s SECRET | sha256sum` prints.

    >>> hash_of("7-00112233445566778899aabbccddeeff")[:16]
    '2943eb7a70ab4749'
    """
    return hashlib.sha256(secret.encode()).hexdigest()


def check_deals(record: Record, secret: str, shown: str | None = None) -> str:
    """Check that all deals of a record follow from a secret, and the secret from a hash; returns the secret's hash.

    Args:
        record: a record that agrees with the rules (`Record.verify`).
        secret: what the table showed after the match.
        shown: the hash that the table showed before it; None: it is not compared.

    Raises:
        ValueError: the hash is another one, the seed is another one, or a round was not dealt by the seed.
    """
    found = re.fullmatch(r"(\d{1,20})-[0-9a-f]{32}", secret)
    if found is None:
        raise ValueError(f"secret {secret[:80]!r}: expected a seed, '-' and 32 hexadecimal digits")
    if shown is not None and hash_of(secret) != shown.strip().lower():
        raise ValueError(f"the hash of the secret is {hash_of(secret)}, but {shown[:80]} was given")
    if int(found[1]) != record.seed:
        raise ValueError(f"{record.name} was dealt with the seed {record.seed}, but the secret holds {found[1]}")
    for number, line in enumerate(record.lines, start=1):
        entry = json.loads(line)
        if entry.get("type") == "deal" and not entry["by_seed"]:
            raise ValueError(f"{record.name}, line {number}: this round was not dealt by the seed")
    return hash_of(secret)
