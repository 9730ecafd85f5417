"""Who messages are from by Python's readers: headers in base64, one a line, in; JSON, reader to addresses, one a line, out."""

import base64
import email
import email.policy
import json
import sys
from email.header import decode_header, make_header
from email.utils import getaddresses, parseaddr


def fields(message):
    found = []
    for name in ("from", "sender"):
        found += message.get_all(name, [])
    return found


def by_default(raw):
    message = email.message_from_bytes(raw, policy=email.policy.default)
    return [a.addr_spec for field in fields(message) for a in field.addresses]


def by_default_text(raw):
    text = raw.decode("utf-8", "replace")
    message = email.message_from_string(text, policy=email.policy.SMTPUTF8)
    return [a.addr_spec for field in fields(message) for a in field.addresses]


def by_default_and_utils(raw):
    message = email.message_from_bytes(raw, policy=email.policy.default)
    return [address for _, address in getaddresses([str(field) for field in fields(message)])]


def unfolded(raw):
    message = email.message_from_bytes(raw, policy=email.policy.compat32)
    return [str(field).replace("\r\n", "") for field in fields(message)]


def by_compat32(raw):
    return [address for _, address in getaddresses(unfolded(raw))]


def by_parseaddr(raw):
    return [parseaddr(field)[1] for field in unfolded(raw)]


def by_decoding_first(raw):
    decoded = [str(make_header(decode_header(field))) for field in unfolded(raw)]
    return [address for _, address in getaddresses(decoded)] + [parseaddr(field)[1] for field in decoded]


READERS = {
    "default": by_default,
    "default, text": by_default_text,
    "default, then utils": by_default_and_utils,
    "compat32": by_compat32,
    "parseaddr": by_parseaddr,
    "decoding first": by_decoding_first,
}


def reading(reader, raw):
    try:
        return reader(raw)
    except Exception:  # A reader that breaks off shows nobody.
        return []


for line in sys.stdin:
    raw = base64.b64decode(line)
    print(json.dumps({name: reading(reader, raw) for name, reader in READERS.items()}))
