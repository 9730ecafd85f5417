"""The application of docs/testing.md: who signs up is sent a code and a link, over SMTP."""

import os
import smtplib
from email.message import EmailMessage


def sign_up(email, smtp_user):
    message = EmailMessage()
    message["From"] = "Shop <shop@example.com>"
    message["To"] = email
    message["Subject"] = "Your code"
    message.set_content("Your code is 135790.\n\nhttps://shop.example/confirm?token=abc\n")
    message.add_attachment(b"%PDF-", maintype="application", subtype="pdf", filename="terms.pdf")
    with smtplib.SMTP("127.0.0.1", int(os.environ["SMTP_PORT"])) as smtp:
        smtp.login(smtp_user, os.environ["WAYBILL_TEST_KEY"])
        smtp.send_message(message)
