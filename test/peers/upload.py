"""Posts a large body with `http.client` or `requests`, and prints the status and the body of the answer as JSON.

usage: upload.py http.client|requests URL BYTES [NAME:VALUE]...
"""

import http.client
import json
import sys
from urllib.parse import urlsplit


def with_http_client(url, body, headers):
    parts = urlsplit(url)
    connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=60)
    connection.request("POST", parts.path, body, headers)
    answer = connection.getresponse()
    return answer.status, answer.read().decode()


def with_requests(url, body, headers):
    import requests

    answer = requests.post(url, data=body, headers=headers, timeout=60)
    return answer.status_code, answer.text


library, url, size, *fields = sys.argv[1:]
headers = dict(field.split(":", 1) for field in fields)
send = {"http.client": with_http_client, "requests": with_requests}[library]
status, text = send(url, b"x" * int(size), headers)
print(json.dumps({"status": status, "text": text}))
