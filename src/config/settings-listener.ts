import { parseDomain } from '../domain/domain-name.ts';
import type { NamedSource } from '../domain/key.ts';
import { isTag } from '../domain/message.ts';
import { address, choice, cidr, flag, integer, listOf, port, text } from './kinds.ts';
import { type RowValues, rowField, rowsOf } from './rows.ts';
import { live, restart } from './setting.ts';

/** `listener.sources`: devices with a name of their own, but without a key. */

const MAX_TAGS = 100;

/** The members of a row, in the order in which they are documented. */
export const SOURCE_FIELDS = {
  name: rowField(
    text('1 to 64 of a-z 0-9 - _', (raw) => /^[a-z0-9_-]{1,64}$/.test(raw)),
    undefined,
    'Its name in the log, and the owner of its messages. Each row has its own name.',
  ),
  cidr: rowField(cidr, undefined, 'Its address, or the range of its addresses.'),
  sender_domains: rowField(
    listOf(text('a domain', (raw) => parseDomain(raw) !== null)),
    [],
    'Domains it may send from, in the envelope and in From and Sender, without their subdomains. Empty means any.',
  ),
  rate_per_minute: rowField(
    integer(0, 10_000_000, 'messages per minute'),
    0,
    'Messages a minute it may send. 0 leaves it to `listener.rate_limit_per_source`.',
  ),
  tags: rowField(
    listOf(text('1 to 128 printable characters', isTag), 0, MAX_TAGS),
    [],
    'Tags added to every message from it, besides its own.',
  ),
};

/** The list of them. */
const sources = rowsOf(SOURCE_FIELDS, {
  from: (values: RowValues<typeof SOURCE_FIELDS>): NamedSource => ({
    name: values.name,
    cidr: values.cidr,
    senderDomains: values.sender_domains.map(canonical),
    ratePerMinute: values.rate_per_minute,
    tags: values.tags,
  }),
  to: ({ name, cidr: range, senderDomains, ratePerMinute, tags }) => ({
    name,
    cidr: range,
    sender_domains: senderDomains,
    rate_per_minute: ratePerMinute,
    tags,
  }),
});

/** In the form of addresses: lower case, in A-labels. */
function canonical(given: string): string {
  return parseDomain(given) ?? given;
}

/** The settings of the SMTP listener. */
export const LISTENER_SETTINGS = {
  'listener.ports': restart(
    listOf(port),
    [25, 587],
    'Ports of the SMTP listener, with STARTTLS. If 25 cannot be bound, 2525 replaces it; other ports are reported and skipped. 0 takes a free port, an empty list switches them off.',
  ),
  'listener.implicit_tls_ports': restart(
    listOf(port),
    [],
    'Ports of the SMTP listener that speak TLS from the first byte, such as 465.',
  ),
  'listener.bind': restart(listOf(address, 1), ['::'], 'Addresses these ports listen on; see `api.bind`.'),
  'listener.allowed_cidrs': live(
    listOf(cidr, 1),
    ['127.0.0.0/8', '::1/128'],
    'Sources that may send mail to anybody without a key. The default is only loopback, because behind NAT or a container’s port mapping every stranger may look private. Others need AUTH with an API key as password.',
  ),
  'listener.sources': live(
    sources,
    [],
    'Names, sender domains, rates and tags for devices that send without a key; see [listener.sources](#listenersources). A row lets nobody in: its range must be in `listener.allowed_cidrs` too.',
  ),
  'listener.require_auth': live(
    flag,
    false,
    'Require authentication from sources in `listener.allowed_cidrs` as well.',
  ),
  'listener.require_tls': live(flag, false, 'Refuse mail and AUTH until TLS is active.'),
  'listener.allow_insecure_auth': live(
    flag,
    false,
    'Offer AUTH without TLS too. Anybody who reads the traffic then has the key.',
  ),
  'listener.trusted_proxies': live(
    listOf(cidr),
    [],
    'Proxies in front of the listener. Each connection from them must begin with a PROXY header (version 1 or 2), whose source counts; without one it gets 421.',
  ),
  'listener.received_client': live(
    flag,
    true,
    'Put the client’s name and address into the Received field. The log and the record have them in any case.',
    'seldom',
  ),
  'listener.bare_newline': live(
    choice('reject', 'normalize'),
    'reject',
    'What to do with a message that has a lone CR or LF: refuse the message, or turn it into CRLF. Neither ever ends a message.',
    'seldom',
  ),
  'listener.quoted_local_parts': live(
    flag,
    true,
    'Accept addresses whose local part must be quoted, as in `"john..doe"@example.com`: they are valid mail addresses (RFC 5321), and the API accepts them too. With false they get 553, for systems that cannot handle them.',
    'seldom',
  ),
  'listener.suppressed': live(
    choice('accept', 'refuse'),
    'accept',
    'What authenticated clients hear at RCPT of an address on the suppression list: accept it, and report the failure to the sender; or refuse it with 550.',
  ),
  'listener.rate_limit_per_source': live(
    integer(0, 10_000_000, 'messages per minute'),
    0,
    'Messages a minute that each source without a key may send; IPv6 is counted by /64. 0 means no limit.',
  ),
  'listener.max_connections': live(
    integer(1, 1_000_000),
    15_000,
    'Most concurrent connections; more get 421.',
  ),
  'listener.max_connections_per_source': live(
    integer(1, 1_000_000),
    500,
    'Most concurrent connections of one source, IPv6 counted by /64; more get 421.',
    'seldom',
  ),
  'listener.max_messages_per_connection': live(
    integer(1, 100_000_000),
    10_000,
    'Most messages of one connection; after that it gets 421 and may connect again.',
    'seldom',
  ),
  'listener.max_commands_without_mail': live(
    integer(1, 1_000_000),
    100,
    'Most commands between two messages that lead to no message: EHLO, HELO, STARTTLS, RSET, NOOP, VRFY, EXPN, HELP, BDAT without a byte, a refused MAIL, and a RCPT, DATA or AUTH that gets a 4xx, except for recipients beyond `api.max_recipients`; then 421.',
    'seldom',
  ),
  'listener.soft_errors': live(
    integer(0, 1_000_000),
    10,
    'Refused commands of a connection since its last message, after which answers become slower and slower.',
    'seldom',
  ),
  'listener.hard_errors': live(
    integer(1, 1_000_000),
    50,
    'Refused commands of a connection since its last message, after which it gets 421.',
    'seldom',
  ),
  'listener.max_auth_failures': live(
    integer(1, 1000),
    5,
    'Failed authentications after which a connection gets 421.',
    'seldom',
  ),
  'listener.greet_delay_ms': live(
    integer(0, 60_000, 'ms'),
    5,
    'How long the greeting waits for early talkers, such as HTTP clients, if the source has sent a message in the last 10 minutes. After an HTTP request it waits at least 250 ms.',
    'seldom',
  ),
  'listener.first_contact_delay_ms': live(
    integer(0, 60_000, 'ms'),
    50,
    'How long the greeting waits for early talkers of any other source.',
    'seldom',
  ),
  'listener.command_timeout_seconds': live(
    integer(1, 86_400, 'seconds'),
    300,
    'How long a client may be silent between commands.',
    'seldom',
  ),
  'listener.data_timeout_seconds': live(
    integer(1, 86_400, 'seconds'),
    180,
    'How long a client may be silent within a message.',
    'seldom',
  ),
  'listener.busy_timeout_seconds': live(
    integer(1, 86_400, 'seconds'),
    10,
    'What these two time-outs shrink to as connections get scarce: they become shorter from half of `listener.max_connections` on, and reach this value at nine tenths of it.',
    'seldom',
  ),
  'listener.min_data_bytes_per_second': live(
    integer(0, 1_000_000_000, 'bytes per second'),
    0,
    'Slowest pace of a message, measured over ten seconds, also between its chunks (BDAT). A slower one is aborted. 0 means any: a person may type a message, and a device may pause. In addition, the memory that a message holds must be filled [within ten minutes](smtp.md#time-outs).',
    'seldom',
  ),
};
