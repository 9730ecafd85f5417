"""Amazon's SDK for Python (boto3), unchanged, at the server that MAIL_URL names. Prints as JSON what it saw."""

import json
import os
from email.message import EmailMessage

import boto3
from botocore.config import Config
from botocore.exceptions import ClientError


def client(**more):
    return boto3.client(
        "sesv2",
        region_name="eu-central-1",
        endpoint_url=os.environ["MAIL_URL"],
        config=Config(retries={"max_attempts": 0}),
        **more,
    )


ses = client()
ADDRESSES = {"FromEmailAddress": "Jane <jane@example.com>", "Destination": {"ToAddresses": ["bob@example.org"]}}
SIMPLE = {"Simple": {"Subject": {"Data": "Grüße"}, "Body": {"Text": {"Data": "Hi."}, "Html": {"Data": "<p>Hi.</p>"}}}}


def letter():
    message = EmailMessage()
    message["From"] = "Jane <jane@example.com>"
    message["To"] = "bob@example.org"
    message["Cc"] = "cc@example.org"
    message["Subject"] = "Grüße"
    message.set_content("Hi.")
    message.add_attachment(bytes(range(256)), maintype="application", subtype="octet-stream", filename="data.bin")
    return message.as_bytes()


def met(ask):
    """The class of the exception that an application catches, and what it says."""
    try:
        ask()
    except ClientError as error:
        said = error.response
        return [type(error).__name__, said["Error"]["Code"], said["ResponseMetadata"]["HTTPStatusCode"]]
    return None


def seen():
    raw = ses.send_email(FromEmailAddress="jane@example.com", Content={"Raw": {"Data": letter()}})
    simple = ses.send_email(**ADDRESSES, Content=SIMPLE, EmailTags=[{"Name": "kind", "Value": "receipt"}])
    ses.put_suppressed_destination(EmailAddress="eve@example.org", Reason="BOUNCE")
    listed = ses.get_suppressed_destination(EmailAddress="eve@example.org")["SuppressedDestination"]
    return {
        "sent": [raw["MessageId"], simple["MessageId"]],
        "enabled": ses.get_account()["SendingEnabled"],
        "listed": [listed["EmailAddress"], listed["Reason"], listed["LastUpdateTime"].year],
        "errors": {
            "unknown address": met(lambda: ses.get_suppressed_destination(EmailAddress="ann@example.org")),
            "another domain": met(
                lambda: ses.send_email(**{**ADDRESSES, "FromEmailAddress": "a@other.example"}, Content=SIMPLE)
            ),
            "no recipient": met(lambda: ses.send_email(**{**ADDRESSES, "Destination": {}}, Content=SIMPLE)),
            "wrong secret": met(client(aws_secret_access_key="wrong", aws_access_key_id=os.environ["AWS_ACCESS_KEY_ID"]).get_account),
            "unknown client": met(client(aws_secret_access_key="wrong", aws_access_key_id="WBUNKNOWN").get_account),
        },
    }


print(json.dumps(seen()))
