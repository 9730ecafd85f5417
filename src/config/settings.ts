import {
  address,
  bytes,
  choice,
  cidr,
  flag,
  host,
  hostname,
  integer,
  listOf,
  mailAddress,
  origin,
  orNull,
  path,
  port,
  text,
} from './kinds.ts';
import { live, restart } from './setting.ts';
import { sources } from './sources-kind.ts';

const MIB = 1024 * 1024;
const GIB = 1024 * MIB;
/** A body is one text in memory, and Node's texts end at 512 MiB. */
const MAX_BODY = 500 * MIB;
const ANYWHERE = ['0.0.0.0/0', '::/0'];
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

/** Every setting, in the order in which it is documented. */
export const SETTINGS = {
  'api.port': restart(
    orNull(port),
    8025,
    'Port of the ingestion API over plain HTTP. 0 takes a free one, null switches it off.',
  ),
  'api.tls_enabled': restart(flag, false, 'Offer the ingestion API over TLS too, on `api.tls_port`.'),
  'api.tls_port': restart(orNull(port), 8026, 'Port of the ingestion API over TLS.'),
  'api.bind': restart(
    listOf(address, 1),
    ['::'],
    'Addresses the ingestion API listens on. `::` takes IPv4 too; where there is no IPv6, it means 0.0.0.0.',
  ),
  'api.allowed_cidrs': live(
    listOf(cidr, 1),
    LOCAL,
    'Sources that may speak to the ingestion API. Others get 403 before any key is looked at.',
  ),
  'api.trusted_proxies': live(
    listOf(cidr),
    [],
    'Proxies whose `X-Forwarded-For` is believed: the rightmost hop that is not one of them is the source.',
  ),
  'api.rate_limit_per_key': live(
    integer(0, 10_000_000, 'requests per minute'),
    100,
    'Requests a minute that each API key may make, for sending and for reading each. 0 means no limit. A key may have a limit of its own.',
  ),
  'api.max_message_bytes': live(
    integer(1024, MAX_BODY, 'bytes'),
    26_214_400,
    'Largest message, counted as it would be sent. Larger ones get 413.',
  ),
  'api.max_recipients': live(
    integer(1, 100_000),
    1000,
    'Most recipients of one message, over to, cc and bcc.',
  ),
  'api.max_headers': live(integer(0, 1000), 50, 'Most custom header fields of one message.'),
  'api.max_header_bytes': live(
    integer(0, MIB, 'bytes'),
    64 * 1024,
    'Most bytes of all custom header fields of one message together.',
  ),
  'api.max_attachments': live(integer(0, 10_000), 500, 'Most attachments of one message.'),
  'api.max_tags': live(integer(0, 1000), 10, 'Most tags of one message.'),
  'api.max_metadata': live(integer(0, 1000), 20, 'Most metadata entries of one message.'),
  'api.max_json_depth': live(integer(4, 1000), 16, 'How deep the values of a JSON body may be nested.'),
  'api.max_json_values': live(
    integer(100, 10_000_000),
    50_000,
    'Most values in a JSON body; a batch may have as many for each of its messages.',
  ),
  'api.max_form_parts': live(integer(1, 100_000), 5000, 'Most parts, or fields, of a form.'),
  'api.max_part_header_bytes': live(
    integer(256, MIB, 'bytes'),
    16 * 1024,
    'Most bytes in the header of one part of a form.',
  ),
  'api.max_part_headers': live(integer(1, 1000), 32, 'Most lines in the header of one part of a form.'),
  'api.max_batch_messages': live(integer(1, 10_000), 500, 'Most messages of one batch.'),
  'api.max_batch_bytes': live(integer(1024, MAX_BODY, 'bytes'), 100 * MIB, 'Largest body of a batch.'),
  'api.batch_messages_per_minute': live(
    integer(0, 100_000_000, 'messages per minute'),
    10_000,
    'Messages a minute that each API key may send in batches, besides its limit on requests. 0 means no limit.',
  ),
  'api.cors_origins': live(
    listOf(origin),
    [],
    'Origins whose pages may call the API from a browser, such as https://app.example.com. Empty means none: an API key in a page is a key given away.',
  ),
  'api.max_request_header_bytes': restart(
    integer(2048, MIB, 'bytes'),
    16_384,
    'Most bytes in the header of a request, its first line included. Larger ones get 431.',
  ),
  'api.max_request_headers': restart(integer(8, 2000), 100, 'Most header fields of a request. More get 431.'),
  'api.max_pipelined_requests': restart(
    integer(1, 1000),
    16,
    'Most requests that one connection may have sent without having been answered. Further ones are not read until one is.',
  ),
  'api.min_body_bytes_per_second': live(
    integer(0, GIB, 'bytes per second'),
    500,
    'Slowest pace at which a body may come in, measured over ten seconds; slower clients get 408. 0 means any.',
  ),
  'api.max_connections': restart(
    integer(1, 100_000),
    2000,
    'Most connections at once, to each port of the ingestion API.',
  ),
  'api.keep_alive_seconds': restart(
    integer(1, 3600, 'seconds'),
    75,
    'How long an idle connection is kept open.',
  ),
  'api.header_timeout_seconds': restart(
    integer(1, 3600, 'seconds'),
    20,
    'How long a client may take to send the header of a request.',
  ),
  'api.body_timeout_seconds': restart(
    integer(1, 3600, 'seconds'),
    120,
    'How long a client may take to send the body. The whole request has this time and `api.header_timeout_seconds` together. A client that takes nothing of its answer for so long is cut off.',
  ),
  'webui.port': restart(
    orNull(port),
    8420,
    'HTTPS port of `/health` and `/metrics` (and, later, of the dashboard). 0 takes a free one, null switches it off.',
  ),
  'webui.bind': restart(listOf(address, 1), ['::'], 'Addresses that port listens on; see `api.bind`.'),
  'webui.allowed_cidrs': live(listOf(cidr, 1), ANYWHERE, 'Sources that may speak to it. Others get 403.'),
  'webui.trusted_proxies': live(listOf(cidr), [], 'Proxies in front of it; see `api.trusted_proxies`.'),
  'webui.allowed_hosts': live(
    listOf(host),
    [],
    'Host names it answers to, besides IP addresses, localhost and `server.hostname`. `/health` and `/metrics` answer to any.',
  ),
  'listener.ports': restart(
    listOf(port),
    [25, 587],
    'Ports of the SMTP listener, STARTTLS offered. 25 falls back to 2525 where it cannot be bound; others are reported and skipped. 0 takes a free one, an empty list switches them off.',
  ),
  'listener.implicit_tls_ports': restart(
    listOf(port),
    [],
    'Ports of the SMTP listener that speak TLS from the first byte, such as 465.',
  ),
  'listener.bind': restart(listOf(address, 1), ['::'], 'Addresses those ports listen on; see `api.bind`.'),
  'listener.allowed_cidrs': live(
    listOf(cidr, 1),
    ['127.0.0.0/8', '::1/128'],
    'Sources that may send mail to anybody without a key. Behind NAT or the port mapping of a container every stranger may look private, so only loopback is among them by default. Others need AUTH with an API key as password, or a row in `listener.sources`.',
  ),
  'listener.sources': live(
    sources,
    [],
    'Devices that send without a key, each with a name of its own: `{cidr, name, sender_domains, rate_per_minute, tags}`. The first row that has the address counts. `sender_domains` bind the envelope sender and every From and Sender; empty means any.',
  ),
  'listener.require_auth': live(
    flag,
    false,
    'Ask those of `listener.allowed_cidrs` and `listener.sources` to authenticate as well.',
  ),
  'listener.require_tls': live(flag, false, 'Refuse mail and AUTH until TLS is active.'),
  'listener.allow_insecure_auth': live(
    flag,
    false,
    'Offer AUTH without TLS too. Whoever listens on the way then has the key.',
  ),
  'listener.trusted_proxies': live(
    listOf(cidr),
    [],
    'Proxies in front of the listener. Each connection from them must begin with a PROXY header (version 1 or 2), whose source counts; without one it gets 421.',
  ),
  'listener.received_client': live(
    flag,
    true,
    'Tell the name and address of the client in the Received field. The log and the record have them in any case.',
  ),
  'listener.bare_newline': live(
    choice('reject', 'normalize'),
    'reject',
    'What is done with a message in which a CR or LF stands by itself: refuse it, or make it CRLF. Neither ever ends a message.',
  ),
  'listener.rate_limit_per_source': live(
    integer(0, 10_000_000, 'messages per minute'),
    0,
    'Messages a minute that each source without a key may send; IPv6 is counted by /64. 0 means no limit.',
  ),
  'listener.max_connections': live(integer(1, 1_000_000), 15_000, 'Most connections at once; more get 421.'),
  'listener.max_connections_per_source': live(
    integer(1, 1_000_000),
    500,
    'Most connections of one source at once, IPv6 counted by /64; more get 421.',
  ),
  'listener.max_messages_per_connection': live(
    integer(1, 100_000_000),
    10_000,
    'Most messages of one connection; after that it gets 421 and may connect again.',
  ),
  'listener.max_commands_without_mail': live(
    integer(1, 1_000_000),
    100,
    'Most commands that lead to no message (EHLO, NOOP, RSET, VRFY, HELP) between two messages; then 421.',
  ),
  'listener.soft_errors': live(
    integer(0, 1_000_000),
    10,
    'Refused commands of a connection, since its last message, after which it is answered more and more slowly.',
  ),
  'listener.hard_errors': live(
    integer(1, 1_000_000),
    50,
    'Refused commands of a connection, since its last message, after which it gets 421.',
  ),
  'listener.max_auth_failures': live(
    integer(1, 1000),
    5,
    'Failed authentications after which a connection gets 421.',
  ),
  'listener.greet_delay_ms': live(
    integer(0, 60_000, 'ms'),
    5,
    'How long the greeting waits for early talkers, such as HTTP clients, of a source that sent a message in the last 10 minutes.',
  ),
  'listener.first_contact_delay_ms': live(
    integer(0, 60_000, 'ms'),
    50,
    'How long the greeting waits for early talkers of any other source.',
  ),
  'listener.command_timeout_seconds': live(
    integer(1, 86_400, 'seconds'),
    300,
    'How long a client may say nothing between commands.',
  ),
  'listener.data_timeout_seconds': live(
    integer(1, 86_400, 'seconds'),
    180,
    'How long a client may say nothing within a message.',
  ),
  'listener.busy_timeout_seconds': live(
    integer(1, 86_400, 'seconds'),
    10,
    'What those two shrink to as connections get scarce: from half of `listener.max_connections` on they grow shorter, and are this at nine tenths of it.',
  ),
  'listener.min_data_bytes_per_second': live(
    integer(0, 1_000_000_000, 'bytes per second'),
    100,
    'Least pace of a message, over ten seconds. A slower one is broken off. 0 means any.',
  ),
  'server.hostname': restart(
    orNull(hostname),
    null,
    "The server's name in HELO, Received, Message-ID and its own certificate. null means the machine's.",
  ),
  'server.postmaster': live(
    orNull(mailAddress),
    null,
    'Who gets mail to `<postmaster>`, the address that every mail server must have. null means the local inbox.',
  ),
  'delivery.default_relay': live(
    text('the name of a relay', (raw) => /^[a-z0-9_-]{1,64}$/.test(raw)),
    'inbox',
    'Relay that mail goes to. Must be set once a relay exists besides `inbox`, which only captures.',
  ),
  'delivery.retry_first_seconds': live(
    integer(1, 86_400, 'seconds'),
    30,
    'Delay after the first failed attempt. It doubles with each further one.',
  ),
  'delivery.retry_max_seconds': live(integer(1, 604_800, 'seconds'), 3600, 'Longest delay between attempts.'),
  'delivery.max_age_hours': live(
    integer(1, 8760, 'hours'),
    48,
    'Age at which a message still waiting fails as expired, counted from its acceptance or `sendAt`.',
  ),
  'delivery.ambiguous': live(
    choice('retry', 'hold'),
    'retry',
    'What to do when a connection ends after the final dot, so that the next hop may have the message: try again (a second copy is possible) or hold it until someone decides.',
  ),
  'limits.max_bytes_in_flight': restart(
    bytes(MIB),
    128 * MIB,
    'Most memory for messages being received or delivered. Beyond it new requests wait, then get 503.',
  ),
  'limits.max_unsent_bytes': restart(
    bytes(MIB),
    64 * MIB,
    'Most memory for answers that clients have not read yet, on each port of the API. Beyond it, the connections that have read nothing for longest are ended.',
  ),
  'limits.max_queued_bytes': live(
    orNull(bytes(MIB)),
    null,
    'Most bytes of messages that are not yet final, over all keys. Beyond it everyone gets 503; a retry by hand does not. Not under `api.max_message_bytes`. null means half of the disk that was free, or already held by the queue, at the start.',
  ),
  'limits.max_queued_per_key': live(
    integer(1, 1_000_000_000),
    1_000_000,
    'Most messages of one API key that are not yet final. Beyond it that key gets 503; a retry by hand does not.',
  ),
  'limits.max_waiting_requests': restart(
    integer(0, 100_000),
    1000,
    'Most requests that wait for memory to receive their bodies (`limits.max_bytes_in_flight`). More get 503 at once.',
  ),
  'limits.max_waiting_readers': restart(
    integer(0, 100_000),
    1000,
    'Most requests that wait with `?wait=` for the end of a message. More are answered at once with what is known.',
  ),
  'limits.max_keys_in_memory': restart(
    integer(100, 1_000_000),
    10_000,
    'Most API keys whose requests are counted at the same time. With more in use within a minute, the limits of those longest unused begin anew.',
  ),
  'retention.content_days': live(
    integer(0, 36_500, 'days'),
    7,
    'How long the contents of a message are kept after its final status.',
  ),
  'retention.content_max_bytes': live(
    bytes(0),
    10 * GIB,
    'Most contents kept of messages with a final status; the oldest go first.',
  ),
  'retention.records_days': live(
    integer(0, 36_500, 'days'),
    90,
    'How long the record of a message is kept after its final status.',
  ),
  'retention.captured_days': live(integer(0, 36_500, 'days'), 7, 'How long captured mail is kept.'),
  'retention.captured_max_bytes': live(bytes(0), GIB, 'Most captured mail kept; the oldest goes first.'),
  'health.disk_critical_bytes': live(
    bytes(0),
    200 * MIB,
    'Free disk space under which health is critical and intake is suspended.',
  ),
  'health.disk_low_bytes': live(bytes(0), GIB, 'Free disk space under which health is degraded.'),
  'log.level': live(
    choice('debug', 'info', 'warn', 'error'),
    'info',
    'The least serious lines that are written.',
  ),
  'log.addresses': live(
    choice('full', 'domain', 'none'),
    'domain',
    'How much of mail addresses the log shows: all, what follows the @, or nothing.',
  ),
  'shutdown.delay_seconds': live(
    integer(0, 3600, 'seconds'),
    0,
    'How long the server goes on after it was told to stop, taking mail but reporting itself not ready, before it stops listening.',
  ),
  'shutdown.grace_seconds': live(
    integer(0, 3600, 'seconds'),
    25,
    'How long work in flight may take to end once the server stops listening.',
  ),
  'tls.cert_file': restart(
    orNull(path),
    null,
    'PEM file with the certificate and its chain. null means a self-signed one that renews itself.',
  ),
  'tls.key_file': restart(orNull(path), null, 'PEM file with the private key of `tls.cert_file`.'),
  'secrets.key_file': restart(
    orNull(path),
    null,
    'File with the key that seals stored passwords. null means `secret.key` in the data directory, made at first start.',
  ),
  'database.url': restart(
    text(
      'empty, for SQLite in the data directory; other databases come in a later version',
      (raw) => raw === '',
    ),
    '',
    'Where facts are kept. Empty means SQLite in the data directory, the only choice of this version.',
    'secret',
  ),
};
