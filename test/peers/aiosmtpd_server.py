"""A mail server on aiosmtpd that reports what it takes.

Prints one JSON value a line: first the port it listens on, then every message with its envelope. Ends when its
input ends.
"""

import asyncio
import base64
import json
import sys

from aiosmtpd.smtp import SMTP


def say(value):
    print(json.dumps(value), flush=True)


class Reporter:
    """Takes every message, and reports it before it says so."""

    async def handle_DATA(self, server, session, envelope):
        content = base64.b64encode(envelope.original_content).decode()
        say({"to": envelope.rcpt_tos, "content": content})
        return "250 2.0.0 taken"


async def main():
    loop = asyncio.get_running_loop()
    listener = await loop.create_server(
        lambda: SMTP(Reporter(), enable_SMTPUTF8=True, loop=loop), "127.0.0.1", 0
    )
    say(listener.sockets[0].getsockname()[1])
    await loop.run_in_executor(None, sys.stdin.read)


asyncio.run(main())
