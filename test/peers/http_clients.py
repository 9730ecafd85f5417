"""Asks one URL after the other with `http.client` and with `urllib`, and prints what each answer is, one a line.

usage: http_clients.py CA_FILE ROUNDS URL...
"""

import http.client
import ssl
import sys
import urllib.error
import urllib.request
from urllib.parse import urlsplit

REQUESTS = [
    ("GET", "/health", None),
    ("GET", "/metrics", None),
    ("HEAD", "/health", None),
    ("POST", "/api/v1/messages", b"x" * 100_000),
    ("DELETE", "/api/v1/messages/1", None),
    ("OPTIONS", "/", None),
    ("BREW", "/pot", None),
]
ca, rounds, *urls = sys.argv[1:]
context = ssl.create_default_context(cafile=ca)


def with_http_client(url, method, path, body):
    parts = urlsplit(url)
    if parts.scheme == "https":
        connection = http.client.HTTPSConnection(parts.hostname, parts.port, timeout=60, context=context)
    else:
        connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=60)
    connection.request(method, path, body)
    answer = connection.getresponse()
    answer.read()
    return answer


def with_urllib(url, method, path, body):
    request = urllib.request.Request(url + path, data=body, method=method)
    try:
        return urllib.request.urlopen(request, timeout=60, context=context)
    except urllib.error.HTTPError as answer:
        answer.read()
        return answer


def seen(send, *request):
    try:
        answer = send(*request)
        version = answer.version if hasattr(answer, "version") else answer.fp.version
        return f"HTTP/{version / 10} {answer.status} {answer.reason}"
    except Exception as error:
        return f"{send.__name__} {request[:3]}: {error!r}"


for _ in range(int(rounds)):
    for url in urls:
        for method, path, body in REQUESTS:
            print(seen(with_http_client, url, method, path, body))
            print(seen(with_urllib, url, method, path, body))
