"""Verifies every signature of messages: JSON in (messages in base64, key records by name), JSON out (a list for each)."""

import base64
import json
import logging
import sys

import dkim

asked = json.load(sys.stdin)
records = {name.encode() + b".": record.encode() for name, record in asked["records"].items()}
quiet = logging.getLogger("quiet")
quiet.addHandler(logging.NullHandler())
quiet.propagate = False


def lookup(name, timeout=5):
    return records.get(name if name.endswith(b".") else name + b".")


def verify(message):
    count = sum(1 for line in message.split(b"\r\n\r\n", 1)[0].split(b"\r\n") if line.lower().startswith(b"dkim-signature:"))
    results = []
    for place in range(count):
        try:
            results.append(dkim.DKIM(message, logger=quiet).verify(idx=place, dnsfunc=lookup))
        except dkim.DKIMException as error:
            results.append(str(error))
    return results


json.dump([verify(base64.b64decode(message)) for message in asked["messages"]], sys.stdout)
