"""Reads reports with Python's own email package: base64, one a line, in; JSON, one object a line, out."""

import base64
import email
import email.policy
import json
import sys


def fields_of(block):
    return [[name, " ".join(value.split())] for name, value in block.items()]


def original_of(part):
    if part is None:
        return None
    if part.get_content_type() == "message/rfc822":
        # Compared as text: the package writes line ends of its own.
        return part.get_payload(0).as_bytes().decode("ascii").replace("\n", "\r\n")
    return base64.b64encode(part.get_payload(decode=True)).decode("ascii")


def describe(raw):
    # compat32 folds and decodes nothing: what is there is what is told.
    message = email.message_from_bytes(raw, policy=email.policy.compat32)
    parts = message.get_payload()
    text, status = parts[0], parts[1]
    original = parts[2] if len(parts) > 2 else None
    blocks = status.get_payload()
    return {
        "type": message.get_content_type(),
        "reportType": message.get_param("report-type"),
        "header": fields_of(message),
        "parts": [part.get_content_type() for part in parts],
        "text": text.get_payload(decode=True).decode("utf-8"),
        "perMessage": fields_of(blocks[0]),
        "perRecipient": [fields_of(block) for block in blocks[1:]],
        "original": original_of(original),
        "defects": [repr(d) for part in message.walk() for d in part.defects],
    }


for line in sys.stdin:
    print(json.dumps(describe(base64.b64decode(line))))
