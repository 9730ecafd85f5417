"""Reads messages with Python's own email package: base64, one a line, in; JSON, one object a line, out."""

import base64
import email
import email.policy
import email.utils
import json
import sys
from email.header import decode_header, make_header

VERBATIM = email.policy.compat32.clone(linesep="\r\n")


def parse(raw, policy):
    # The package takes raw UTF-8 in headers (RFC 6532) from text only.
    if raw.split(b"\r\n\r\n")[0].isascii():
        return email.message_from_bytes(raw, policy=policy)
    return email.message_from_string(raw.decode("utf-8"), policy=policy)


def leaves(part):
    if part.get_content_maintype() == "multipart":
        for child in part.iter_parts():
            yield from leaves(child)
    else:
        yield part


def content_of(part):
    if part.get_content_type() == "message/rfc822":
        return part.get_payload(0).as_bytes(policy=VERBATIM)
    return part.get_payload(decode=True)


def display_names(raw_value):
    # The new address parser of 3.11 keeps the blank between adjacent encoded words (against RFC 2047 section 6.2);
    # the older one of the same package does not.
    pairs = email.utils.getaddresses([raw_value])
    return [str(make_header(decode_header(name))) for name, _ in pairs]


def addresses(message, legacy, name):
    field = message[name]
    if field is None:
        return []
    found = [a.addr_spec for group in field.groups for a in group.addresses]
    names = display_names(legacy[name].replace("\r\n", "")) if found else []
    return [list(pair) for pair in zip(names, found, strict=True)]


def describe(raw):
    message = parse(raw, email.policy.default)
    legacy = parse(raw, email.policy.compat32)
    text = html = None
    attachments = []
    for part in leaves(message):
        if part["content-disposition"] is not None:
            attachments.append(
                {
                    "filename": part.get_filename(),
                    "type": part.get_content_type(),
                    "contentId": part["content-id"],
                    "disposition": part.get_content_disposition(),
                    "content": base64.b64encode(content_of(part)).decode("ascii"),
                }
            )
        elif part.get_content_type() == "text/html":
            html = part.get_content()
        else:
            text = part.get_content()
    defects = [repr(d) for part in message.walk() for d in part.defects]
    return {
        "subject": message["subject"],
        "from": addresses(message, legacy, "from"),
        "to": addresses(message, legacy, "to"),
        "cc": addresses(message, legacy, "cc"),
        "replyTo": addresses(message, legacy, "reply-to"),
        "sender": addresses(message, legacy, "sender"),
        "date": round(message["date"].datetime.timestamp() * 1000),
        "messageId": message["message-id"],
        "inReplyTo": message["in-reply-to"],
        "references": message["references"],
        "listUnsubscribe": message["list-unsubscribe"],
        "note": message["x-note"],
        "text": text,
        "html": html,
        "attachments": attachments,
        "defects": defects,
    }


for line in sys.stdin:
    print(json.dumps(describe(base64.b64decode(line))))
