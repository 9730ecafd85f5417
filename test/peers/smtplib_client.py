"""Sends a letter with Python's smtplib.

Reads what to do as JSON (`Target` of mail-clients.ts) and prints how it went as JSON: what was said, and the content
as it was sent.
"""

import base64
import contextlib
import io
import json
import smtplib
import ssl
import sys
from email.message import EmailMessage
from email.utils import formatdate, make_msgid

target = json.load(sys.stdin)
sent = b""


def watched(base):
    """An SMTP client that notes the content it is given to send."""

    class Watched(base):
        def data(self, msg):
            global sent
            lines = msg if isinstance(msg, bytes) else msg.encode("ascii")
            sent = lines.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n")
            return super().data(msg)

    return Watched


def connect():
    context = ssl.create_default_context(cafile=target["ca"])
    if target["tls"] == "implicit":
        client = watched(smtplib.SMTP_SSL)("localhost", target["port"], context=context)
    else:
        client = watched(smtplib.SMTP)("localhost", target["port"])
    client.set_debuglevel(1)
    if target["tls"] == "starttls":
        client.starttls(context=context)
    return client


def authenticate(client):
    """As `login` does, but with one mechanism: that one tries all of them with a wrong password."""
    client.ehlo_or_helo_if_needed()
    client.user, client.password = "app", target["key"]
    if target["auth"] == "LOGIN":
        client.auth("LOGIN", client.auth_login)
    elif target["auth"] == "PLAIN":
        client.auth("PLAIN", client.auth_plain)


def letter():
    message = EmailMessage()
    message["From"] = "Shop <shop@example.com>"
    message["To"] = target["recipient"]
    message["Subject"] = "Grüße"
    message["Date"] = formatdate()
    message["Message-ID"] = make_msgid()
    message.set_content("Grüße\n.dot\n..\n.\n\nthe end\n", cte="8bit")
    message.add_attachment(bytes(range(256)) * 16, maintype="application", subtype="octet-stream", filename="data.bin")
    return message


ok = True
transcript = io.StringIO()
with contextlib.redirect_stderr(transcript):
    try:
        with connect() as session:
            authenticate(session)
            session.send_message(letter())
    except (OSError, smtplib.SMTPException) as error:
        ok = False
        print(error, file=sys.stderr)
print(json.dumps({"ok": ok, "transcript": transcript.getvalue(), "sent": base64.b64encode(sent).decode()}))
