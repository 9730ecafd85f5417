import { PROVIDER_NAMES } from '../domain/drop-in.ts';
import { address, choice, cidr, flag, integer, listOf, origin, orNull, port, urlHost } from './kinds.ts';
import { live, restart } from './setting.ts';

const MIB = 1024 * 1024;
const GIB = 1024 * MIB;
/** A body is one string in memory, and Node's strings end at 512 MiB. */
const MAX_BODY = 500 * MIB;
/** Loopback and private ranges: RFC 1918, unique local and link-local IPv6. */
const LOCAL = [
  '127.0.0.0/8',
  '::1/128',
  '10.0.0.0/8',
  '172.16.0.0/12',
  '192.168.0.0/16',
  'fc00::/7',
  'fe80::/10',
];

/** The settings of the ingestion API. */
export const API_SETTINGS = {
  'api.port': restart(
    orNull(port, 'off'),
    8025,
    'Port of the ingestion API over plain HTTP. 0 takes a free port, null switches it off.',
  ),
  'api.tls_enabled': restart(flag, false, 'Offer the ingestion API over TLS too, on `api.tls_port`.'),
  'api.tls_port': restart(orNull(port, 'off'), 8026, 'Port of the ingestion API over TLS.'),
  'api.bind': restart(
    listOf(address, 1),
    ['::'],
    'Addresses the ingestion API listens on. `::` includes IPv4; without IPv6 it means 0.0.0.0.',
  ),
  'api.allowed_cidrs': live(
    listOf(cidr, 1),
    LOCAL,
    'Sources that may use the ingestion API. Others get 403 before any key is checked.',
  ),
  'hooks.allowed_cidrs': live(
    listOf(cidr, 1),
    ['0.0.0.0/0', '::/0'],
    'Sources that may use the paths for strangers on the ports of the API, `/hooks/` and `/u/`, which take no key. Others get 403.',
  ),
  'api.trusted_proxies': live(
    listOf(cidr),
    [],
    'Proxies whose `X-Forwarded-For` is trusted: the rightmost hop that is not one of them is the source. Links in answers of providers’ APIs follow their `X-Forwarded-Proto` and `X-Forwarded-Host`.',
  ),
  'api.public_hosts': live(
    listOf(urlHost),
    [],
    'Hosts at which clients reach this port through a proxy that passes on another `Host`. Requests that are signed (SES) are signed with the host that the client knows.',
    'seldom',
  ),
  'api.rate_limit_per_key': live(
    integer(0, 10_000_000, 'requests per minute'),
    100,
    'Requests a minute that each API key may make for sending, and as many for reading; a message over SMTP counts as a sending request. Further ones get 429, over SMTP 450. 0 means no limit. A key may have its own limit.',
  ),
  'api.max_message_bytes': live(
    integer(1024, MAX_BODY, 'bytes'),
    26_214_400,
    'Largest message, measured as it would be sent; over SMTP, as it arrives, and EHLO offers this as SIZE. Larger ones get 413, over SMTP 552.',
  ),
  'api.max_recipients': live(
    integer(1, 100_000),
    1000,
    'Most recipients of one message, over to, cc and bcc; over SMTP, most accepted RCPT commands, and further ones get 452.',
  ),
  'api.max_headers': live(
    integer(0, 1000),
    50,
    'Most custom header fields of one message. Not for messages over SMTP.',
    'seldom',
  ),
  'api.max_header_bytes': live(
    integer(0, MIB, 'bytes'),
    64 * 1024,
    'Most bytes of all custom header fields of one message together. Not for messages over SMTP, whose header may have 256 KiB.',
    'seldom',
  ),
  'api.max_attachments': live(
    integer(0, 10_000),
    500,
    'Most attachments of one message. Not for messages over SMTP.',
    'seldom',
  ),
  'api.max_tags': live(
    integer(0, 1000),
    10,
    'Most tags of one message, over SMTP too (`X-Waybill-Tag`).',
    'seldom',
  ),
  'api.max_metadata': live(
    integer(0, 1000),
    20,
    'Most metadata entries of one message, over SMTP too (`X-Waybill-Metadata-…`).',
    'seldom',
  ),
  'api.max_json_depth': live(
    integer(4, 1000),
    16,
    'How deeply the values of a JSON body may be nested.',
    'seldom',
  ),
  'api.max_json_values': live(
    integer(100, 10_000_000),
    50_000,
    'Most values in a JSON body; a batch may have as many for each of its messages.',
    'seldom',
  ),
  'api.max_form_parts': live(integer(1, 100_000), 5000, 'Most parts, or fields, of a form.', 'seldom'),
  'api.max_part_header_bytes': live(
    integer(256, MIB, 'bytes'),
    16 * 1024,
    'Most bytes in the header of one part of a form.',
    'seldom',
  ),
  'api.max_part_headers': live(
    integer(1, 1000),
    32,
    'Most lines in the header of one part of a form.',
    'seldom',
  ),
  'api.max_batch_messages': live(integer(1, 10_000), 500, 'Most messages of one batch.', 'seldom'),
  'api.max_batch_bytes': live(
    integer(1024, MAX_BODY, 'bytes'),
    100 * MIB,
    'Largest body of a batch.',
    'seldom',
  ),
  'api.batch_messages_per_minute': live(
    integer(0, 100_000_000, 'messages per minute'),
    10_000,
    'Messages a minute that each API key may send in batches, in addition to its limit on requests. 0 means no limit.',
    'seldom',
  ),
  'api.cors_origins': live(
    listOf(origin),
    [],
    'Origins whose pages may call the API from a browser, such as https://app.example.com. Empty means none, because an API key in a web page is public.',
  ),
  'dropin.enabled': restart(
    listOf(choice(...PROVIDER_NAMES)),
    [...PROVIDER_NAMES],
    'The providers whose APIs are offered on the ports of the API, for applications that already speak one.',
    'seldom',
  ),
  'api.max_request_header_bytes': restart(
    integer(2048, MIB, 'bytes'),
    16_384,
    'Most bytes in the header of a request, including its first line. Larger ones get 431.',
    'seldom',
  ),
  'api.max_request_headers': restart(
    integer(8, 2000),
    100,
    'Most header fields of a request. More get 431.',
    'seldom',
  ),
  'api.max_pipelined_requests': restart(
    integer(1, 1000),
    16,
    'Most unanswered requests of one connection. Further ones are not read until one is answered.',
    'seldom',
  ),
  'api.min_body_bytes_per_second': live(
    integer(0, GIB, 'bytes per second'),
    500,
    'Slowest pace at which a body may arrive, measured over ten seconds; slower clients get 408. 0 means any.',
    'seldom',
  ),
  'api.max_connections': restart(
    integer(1, 100_000),
    2000,
    'Most concurrent connections to each port of the ingestion API. One more takes the place of one that waits for its client, from the source that has most (IPv6 by /64); if that would be no fairer, it gets 503, over TLS it is closed.',
  ),
  'api.keep_alive_seconds': restart(
    integer(1, 3600, 'seconds'),
    75,
    'How long an idle connection is kept open.',
    'seldom',
  ),
  'api.header_timeout_seconds': restart(
    integer(1, 3600, 'seconds'),
    20,
    'How long a client may take to send the header of a request.',
    'seldom',
  ),
  'api.body_timeout_seconds': restart(
    integer(1, 3600, 'seconds'),
    120,
    'How long a client may take to send the body. The whole request has this time plus `api.header_timeout_seconds`. A client that reads nothing of its answer for this long is cut off.',
    'seldom',
  ),
};
