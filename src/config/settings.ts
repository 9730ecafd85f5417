import { RELAY_NAME } from '../domain/relay.ts';
import { parseEndpoint } from '../lib/network.ts';
import {
  address,
  bytes,
  choice,
  cidr,
  flag,
  formOf,
  host,
  hostname,
  integer,
  listOf,
  mailAddress,
  mailDomain,
  orNull,
  path,
  port,
  publicUrl,
  text,
} from './kinds.ts';
import { inGroup, live, outside, restart } from './setting.ts';
import { API_SETTINGS } from './settings-api.ts';
import { CERTIFICATE_SETTINGS } from './settings-certificate.ts';
import { DATABASE_SETTINGS } from './settings-database.ts';
import { LISTENER_SETTINGS } from './settings-listener.ts';
import { SESSION_SETTINGS, SIGN_IN_SETTINGS } from './settings-sign-in.ts';
import { SUPPRESSION_SETTINGS } from './settings-suppressions.ts';
import { TLS_REPORT_SETTINGS } from './settings-tls-reports.ts';
import { WEBHOOK_SETTINGS } from './settings-webhooks.ts';

/** More would only delay a failure. */
const MAX_SERVERS = 8;

/** The address of a server, with or without a port. */
const server = text(
  'an IP address, with a port if it is not 53: 192.0.2.1, 192.0.2.1:5353, 2001:db8::1 or [2001:db8::1]:5353',
  (raw) => parseEndpoint(raw, 53) !== null,
);

/** The settings of the resolver, which `mx` relays ask. */
const DNS_SETTINGS = {
  'dns.servers': live(
    orNull(listOf(server, 1, MAX_SERVERS), "the system's servers"),
    null,
    "Recursive DNS servers to query, in this order; one that recently did not answer comes last. null means the system's, from `/etc/resolv.conf`, which is read again when it changes.",
  ),
  'dns.trust_ad': live(
    choice('auto', 'yes', 'no'),
    'auto',
    'Whether to trust the DNS servers when they say that they validated an answer (DNSSEC). DANE needs this. `auto` trusts them if all are on this host, because answers from elsewhere can be forged on the way. `yes` is for a validating server behind a connection that nobody else can write to.',
  ),
  'dns.timeout_ms': live(
    integer(100, 60_000, 'ms'),
    3000,
    'How long one server may take for one answer, over UDP and again over TCP if an answer is too large.',
  ),
  'dns.attempts': live(
    integer(1, 10),
    2,
    'How often the servers are asked in turn; a server that said that it cannot answer is not asked again.',
  ),
  'dns.cache_entries': live(
    integer(0, 1_000_000),
    10_000,
    'Most cached answers, with 512 bytes of DNS data for each on average. An answer is kept as long as it allows, from a second to a day; a negative answer for up to an hour; a failure for 5 seconds.',
  ),
};

const MIB = 1024 * 1024;
const GIB = 1024 * MIB;
const ANYWHERE = ['0.0.0.0/0', '::/0'];

/** The settings of mail that tells what became of ours. */
const BOUNCE_SETTINGS = {
  'bounces.domain': live(
    orNull(mailDomain, 'none: the sender’s own address'),
    null,
    'A domain whose MX record names this server, for the return paths of mail that goes out: what cannot be delivered comes back here, and the message’s record tells. No one else’s mail to it is accepted, so it must not be a domain with mailboxes. null means none; see docs/bounces.md.',
  ),
  'bounces.max_age_days': live(
    integer(1, 365, 'days'),
    14,
    'How long after the last attempt a return path still counts. Later, mail to it gets 550.',
  ),
  'bounces.max_message_bytes': live(
    integer(64 * 1024, 64 * MIB, 'bytes'),
    MIB,
    'Largest message to the bounce domain, if `api.max_message_bytes` is not smaller; a larger one gets 552.',
  ),
  'bounces.rate_per_source': live(
    integer(1, 1_000_000, 'messages per minute'),
    600,
    'Messages a minute to the bounce domain that each source may send, IPv6 counted by /64; more get 451.',
  ),
};

const relayName = {
  ...text('the name of a relay', (raw) => RELAY_NAME.test(raw)),
  form: formOf('relay'),
};

/** Every setting, in the order in which it is documented. */
export const SETTINGS = {
  ...inGroup('http-api', API_SETTINGS),
  ...inGroup('security', {
    'webui.port': restart(
      orNull(port, 'off'),
      8420,
      'HTTPS port of the dashboard, `/health` and `/metrics`. 0 takes a free port, null switches it off.',
    ),
    'webui.bind': restart(listOf(address, 1), ['::'], 'Addresses this port listens on; see `api.bind`.'),
    'webui.allowed_cidrs': live(listOf(cidr, 1), ANYWHERE, 'Sources that may use it. Others get 403.'),
    'webui.trusted_proxies': live(listOf(cidr), [], 'Proxies in front of it; see `api.trusted_proxies`.'),
    'webui.allowed_hosts': live(
      listOf(host),
      [],
      'Host names it answers to, besides IP addresses, localhost and `server.hostname`. `/health` and `/metrics` answer to any name.',
    ),
    'webui.max_event_streams': live(
      integer(1, 10_000, 'streams'),
      200,
      'Most streams that tell open pages at once what changes; a browser needs one for all its tabs. One more gets 429.',
    ),
    ...SESSION_SETTINGS,
    ...SIGN_IN_SETTINGS,
  }),
  ...inGroup('smtp', { ...LISTENER_SETTINGS, ...BOUNCE_SETTINGS }),
  ...inGroup('server', {
    'server.hostname': restart(
      orNull(hostname, "the machine's name"),
      null,
      "The server's name in HELO, Received, Message-ID and its own certificate. null means the machine's name.",
    ),
    'server.public_url': live(
      orNull(publicUrl, 'none: links show https://<your-server>'),
      null,
      'The URL at which others reach the ports of the API, such as https://mail.example.com: the hooks of providers and the links to unsubscribe are made of it. A proxy in front of them passes on `/hooks/` and `/u/`.',
    ),
    'server.postmaster': live(
      orNull(mailAddress, 'the local inbox'),
      null,
      'The recipient of mail to `<postmaster>`, the address that every mail server must have. null means the local inbox.',
    ),
  }),
  ...inGroup('delivery', {
    'delivery.default_relay': live(
      relayName,
      'inbox',
      'Relay for mail that no rule routes. Must be set once there is a relay besides `inbox`, which only captures.',
    ),
    'delivery.retry_first_seconds': live(
      integer(1, 86_400, 'seconds'),
      30,
      'Delay after the first failed attempt. It doubles with each further one.',
    ),
    'delivery.retry_max_seconds': live(
      integer(1, 604_800, 'seconds'),
      3600,
      'Longest delay between attempts.',
    ),
    'delivery.max_age_hours': live(
      integer(1, 8760, 'hours'),
      48,
      'Age at which a message still waiting fails as expired, counted from its acceptance or `sendAt`.',
    ),
    'delivery.ambiguous': live(
      choice('retry', 'hold'),
      'retry',
      'What to do when a connection ends after the final dot, so that the next hop may have the message: retry (a second copy is possible), or hold it until an operator decides.',
    ),
    'delivery.private_relays': outside(
      live(
        listOf(relayName),
        [],
        'Stored relays that may connect to private and loopback addresses, and over plain HTTP (with type `smtp`: to link-local ones, such as 169.254.169.254); for relays of the file `allow_private` does this.',
      ),
    ),
    ...WEBHOOK_SETTINGS,
    'delivery.report_relay': live(
      orNull(relayName, 'the relay that routing chooses'),
      null,
      'Relay that sends reports of failure, delay and success to senders. null means the one that routing chooses.',
    ),
    'delivery.report_delay_hours': live(
      integer(1, 8760, 'hours'),
      4,
      'Age at which a sender who asked for reports of delays (NOTIFY) is told that a message still waits.',
    ),
    'delivery.reports_per_hour': live(
      integer(0, 10_000),
      20,
      'Most reports to one address in an hour, on each node. Further ones are only recorded. 0 means none at all.',
    ),
    ...TLS_REPORT_SETTINGS,
    ...SUPPRESSION_SETTINGS,
    ...DNS_SETTINGS,
  }),
  ...inGroup('server', {
    'threads.ingest': restart(
      integer(1, 64, 'threads'),
      1,
      'Threads that accept mail, over HTTP and SMTP. With 1, the thread that delivers accepts it too; with more, that thread only delivers, and connections are divided among this many others. For machines with four cores or more; see docs/operations.md.',
    ),
  }),
  ...inGroup('limits', {
    'limits.max_bytes_in_flight': restart(
      bytes(MIB),
      128 * MIB,
      'Most memory for messages being received, over HTTP and SMTP, composed, and written to the disk. Beyond this, new ones wait, then get 503, over SMTP 452; docs/operations.md says what each counts for.',
      'seldom',
    ),
    'limits.max_unsent_bytes': restart(
      bytes(MIB),
      64 * MIB,
      'Most memory for answers that clients have not read yet, on each port of the API. Beyond this, the connections that have read nothing for longest are closed.',
      'seldom',
    ),
    'limits.max_queued_bytes': live(
      orNull(bytes(MIB), 'half of the free disk (over PostgreSQL, no limit)'),
      null,
      'Most bytes of messages that are not yet final, over all keys. Beyond this everyone gets 503, over SMTP 452; a retry by hand does not. At least `api.max_message_bytes`. null means half of the disk space that was free, or already held by the queue, at start; over PostgreSQL, whose disks Waybill cannot see, no limit.',
    ),
    'limits.max_queued_per_key': live(
      integer(1, 1_000_000_000),
      1_000_000,
      'Most messages of one API key, or of one row of `listener.sources`, that are not yet final. Beyond this the sender gets 503, over SMTP 452; a retry by hand does not.',
    ),
    'limits.max_waiting_requests': restart(
      integer(0, 100_000),
      1000,
      'Most requests and SMTP sessions that wait for memory for their messages (`limits.max_bytes_in_flight`). More get 503, over SMTP 452, at once.',
      'seldom',
    ),
    'limits.max_waiting_readers': restart(
      integer(0, 100_000),
      1000,
      'Most requests that wait with `?wait=` for the end of a message. More are answered at once with the present record.',
      'seldom',
    ),
    'limits.max_event_readers': restart(
      integer(0, 100_000),
      1000,
      'Most requests that wait for events, with `wait` or as a stream. More get 503. Each holds one page of events at most.',
      'seldom',
    ),
    'limits.max_suppressions': live(
      integer(1, 100_000_000),
      5_000_000,
      'Most entries of the suppression list. Beyond this, entries made by hand get 503, and those that come by themselves push out the ones that end first.',
      'seldom',
    ),
    'limits.max_unsubscribe_links': live(
      integer(0, 1_000_000_000),
      10_000_000,
      'Most links to unsubscribe that are kept after the contents of their messages, one for each recipient, of about 200 bytes. Beyond this, the oldest stop working once the records of their messages go.',
      'seldom',
    ),
    'limits.max_keys_in_memory': restart(
      integer(100, 1_000_000),
      10_000,
      'Most API keys, and rows of `listener.sources` with a rate, whose messages and requests are counted at the same time. With more in use within a minute, the limits of those longest unused start again.',
      'seldom',
    ),
  }),
  ...inGroup('retention', {
    'retention.content_days': live(
      integer(0, 36_500, 'days'),
      7,
      'How long the contents of a message are kept after its final status.',
    ),
    'retention.content_max_bytes': live(
      bytes(0),
      10 * GIB,
      'Most bytes of contents kept of messages with a final status; the oldest go first.',
    ),
    'retention.records_days': live(
      integer(0, 36_500, 'days'),
      90,
      'How long the record of a message is kept after its final status.',
    ),
    'retention.captured_days': live(integer(0, 36_500, 'days'), 7, 'How long captured mail is kept.'),
    'retention.captured_max_bytes': live(
      bytes(0),
      GIB,
      'Most bytes of captured mail kept; the oldest goes first.',
    ),
    'retention.activity_days': live(
      integer(1, 36_500, 'days'),
      365,
      'How long the activity (who did what) is kept. At most the newest 100,000 entries are kept.',
    ),
    'retention.events_days': live(
      integer(1, 36_500, 'days'),
      30,
      'How long events are kept. Those of a message go with its record at the latest.',
    ),
    'retention.requests_days': live(
      integer(0, 30, 'days'),
      3,
      'How long the log of requests to the ingestion API, and of SMTP sessions, is kept, at most 1,000,000 lines. 0 writes none.',
    ),
    'retention.feedback_days': live(
      integer(0, 36_500, 'days'),
      30,
      'How long bounces, complaints and other reports are kept as they came, up to 64 KiB of each.',
    ),
    'retention.reports_days': live(
      integer(1, 3650, 'days'),
      90,
      'How long DMARC reports of receivers are kept, at most 500,000 rows of them, and what was counted for TLS reports.',
    ),
    'retention.statistics_days': live(
      integer(1, 400, 'days'),
      90,
      'How long daily counts of mail by relay, recipient domain, mailbox provider, tag and key are kept; those of hours are kept for 3 days. Of one hour or day, at most 2,001 rows of them are kept.',
    ),
    'retention.compact_below_percent': live(
      integer(0, 90, 'percent'),
      25,
      'A file of the spool is emptied when less than this share of it is still referred to: its live contents are copied to the newest file, and it is removed. 0 means never.',
    ),
  }),
  ...inGroup('limits', {
    'health.disk_critical_bytes': live(
      bytes(0),
      200 * MIB,
      'Free disk space below which health is critical and intake is suspended.',
    ),
    'health.disk_low_bytes': live(bytes(0), GIB, 'Free disk space below which health is degraded.'),
  }),
  ...inGroup('server', {
    'log.level': live(choice('debug', 'info', 'warn', 'error'), 'info', 'The lowest level that is written.'),
    'log.addresses': live(
      choice('full', 'domain', 'none'),
      'domain',
      'How much of a mail address the log shows: all, only the domain, or nothing.',
    ),
    'shutdown.delay_seconds': live(
      integer(0, 3600, 'seconds'),
      0,
      'How long the server still accepts mail after it was told to stop, while it reports itself not ready, before it stops listening.',
    ),
    'shutdown.grace_seconds': live(
      integer(0, 3600, 'seconds'),
      25,
      'How long outgoing and incoming messages may wait for their answers once the server stops listening. Outgoing mail whose end has not been sent is not waited for.',
    ),
  }),
  ...inGroup('certificate', CERTIFICATE_SETTINGS),
  ...inGroup('security', {
    'secrets.key_file': outside(
      live(
        orNull(path, 'secret.key in the data directory'),
        null,
        'File with the key that encrypts stored passwords. null means `secret.key` in the data directory, made at first start.',
      ),
    ),
    'secrets.encrypt_contents': outside(
      restart(
        flag,
        false,
        'Whether new mail is encrypted where its contents are stored, with keys that only `secrets.key_file` opens. What was stored before stays as it is, and is read either way. See docs/encryption.md.',
      ),
    ),
  }),
  ...inGroup('server', DATABASE_SETTINGS),
};
