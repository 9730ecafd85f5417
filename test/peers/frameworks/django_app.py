"""A Django application with the settings in settings.py that sends one letter, and prints what comes when it may not."""

import runpy
import sys

from django.conf import settings

found = runpy.run_path(sys.argv[1])
settings.configure(**{name: value for name, value in found.items() if name.isupper()})

import django  # noqa: E402
from django.core.mail import EmailMultiAlternatives  # noqa: E402

django.setup()


def letter(sender):
    message = EmailMultiAlternatives("Grüße", "Thank you.", f"Shop <{sender}>", ["you@example.com"], cc=["cc@example.com"])
    message.attach_alternative("<p>Thank you.</p>", "text/html")
    message.attach("data.bin", bytes(range(256)), "application/octet-stream")
    return message


letter("shop@example.com").send()
try:
    letter("shop@other.example").send()
except Exception as error:  # Of each backend another one.
    print(type(error).__name__)
