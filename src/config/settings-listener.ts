import { parseDomain } from '../domain/domain-name.ts';
import type { NamedSource } from '../domain/source.ts';
import { isTag } from '../domain/tag.ts';
import { unknownRule } from './fault.ts';
import {
  address,
  choice,
  cidr,
  type Flaw,
  flag,
  flawsOf,
  formOf,
  integer,
  isRecord,
  type Kind,
  listOf,
  port,
  text,
} from './kinds.ts';
import { live, restart } from './setting.ts';

/** `listener.sources`: devices with a name of their own, but without a key. */

/** One member of a row. */
export interface SourceField<T> {
  readonly kind: Kind<T>;
  /** Undefined: must be given. */
  readonly fallback: T | undefined;
  readonly meaning: string;
}

const MAX_TAGS = 100;

/** The members of a row, in the order in which they are documented. */
export const SOURCE_FIELDS = {
  name: field(
    text('1 to 64 of a-z 0-9 - _', (raw) => /^[a-z0-9_-]{1,64}$/.test(raw)),
    undefined,
    'Its name in the log, and whose its messages are. No two rows have the same.',
  ),
  cidr: field(cidr, undefined, 'Its address, or the range of its addresses.'),
  sender_domains: field(
    listOf(text('a domain', (raw) => parseDomain(raw) !== null)),
    [],
    'Domains it may send from, in the envelope and in From and Sender; not what is below them. Empty means any.',
  ),
  rate_per_minute: field(
    integer(0, 10_000_000, 'messages per minute'),
    0,
    'Messages a minute it may send. 0 leaves it to `listener.rate_limit_per_source`.',
  ),
  tags: field(
    listOf(text('1 to 128 printable characters', isTag), 0, MAX_TAGS),
    [],
    'Put on every message of it, besides its own.',
  ),
};

type Fields = typeof SOURCE_FIELDS;
type FieldName = keyof Fields;
type Values = { readonly [K in FieldName]: Fields[K] extends SourceField<infer T> ? T : never };

const NAMES = Object.keys(SOURCE_FIELDS);

/** One row. */
const row: Kind<NamedSource> = {
  rule: `a map of ${NAMES.join(', ')}, of which name and cidr must be given`,
  unit: null,
  form: formOf('json'),
  read: (raw) => {
    const { values, flaws } = readRow(raw);
    return flaws.length === 0 && isWhole(values) ? toSource(values) : undefined;
  },
  flaws: (raw) => readRow(raw).flaws,
  fromText: (line) => line,
};

/** The list of them; in the environment as JSON. */
const sources: Kind<readonly NamedSource[]> = { ...listOf(row), fromText: fromJson };

/** A row as it would stand in the configuration. */
export function sourceDefinition(source: NamedSource): Values {
  const { name, cidr: range, senderDomains, ratePerMinute, tags } = source;
  return { name, cidr: range, sender_domains: senderDomains, rate_per_minute: ratePerMinute, tags };
}

function readRow(raw: unknown): { readonly values: Partial<Values>; readonly flaws: readonly Flaw[] } {
  if (!isRecord(raw))
    return { values: {}, flaws: [{ place: '', value: undefined, rule: `must be ${row.rule}` }] };
  const flaws: Flaw[] = Object.keys(raw)
    .filter((name) => !NAMES.includes(name))
    .map((name) => ({ place: `.${name}`, value: undefined, rule: unknownRule('field', name, NAMES) }));
  const values: Partial<Values> = {};
  for (const [name, { kind, fallback }] of Object.entries(SOURCE_FIELDS)) {
    const item = raw[name];
    const value = item === undefined ? fallback : kind.read(item);
    if (value !== undefined) Object.assign(values, { [name]: value });
    else if (item === undefined) flaws.push({ place: `.${name}`, value: item, rule: 'must be given' });
    else flaws.push(...flawsOf(kind, item, `.${name}`));
  }
  return { values, flaws };
}

function toSource(values: Values): NamedSource {
  return {
    name: values.name,
    cidr: values.cidr,
    senderDomains: values.sender_domains.map(canonical),
    ratePerMinute: values.rate_per_minute,
    tags: values.tags,
  };
}

function fromJson(line: string): unknown {
  if (line.trim() === '') return [];
  try {
    return JSON.parse(line);
  } catch {
    return line;
  }
}

/** As addresses have it: lower case, in A-labels. */
function canonical(given: string): string {
  return parseDomain(given) ?? given;
}

function isWhole(values: Partial<Values>): values is Values {
  return NAMES.every((name) => Object.hasOwn(values, name));
}

function field<T>(kind: Kind<T>, fallback: NoInfer<T> | undefined, meaning: string): SourceField<T> {
  return { kind, fallback, meaning };
}

/** The settings of the SMTP listener. */
export const LISTENER_SETTINGS = {
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
    'Sources that may send mail to anybody without a key. Behind NAT or the port mapping of a container every stranger may look private, so only loopback is among them by default. Others need AUTH with an API key as password.',
  ),
  'listener.sources': live(
    sources,
    [],
    'Names, sender domains, rates and tags for devices that send without a key; see [listener.sources](#listenersources). A row lets nobody in: its range must be in `listener.allowed_cidrs` too.',
  ),
  'listener.require_auth': live(
    flag,
    false,
    'Ask those of `listener.allowed_cidrs` to authenticate as well.',
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
  'listener.quoted_local_parts': live(
    flag,
    true,
    'Take addresses whose local part must be quoted, as in `"john..doe"@example.com`: they are good mail addresses (RFC 5321), and the API takes them too. Without it they get 553, for systems that stumble over them.',
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
    'Most commands that lead to no message between two messages: EHLO, HELO, STARTTLS, RSET, NOOP, VRFY, EXPN, HELP, BDAT without a byte, a refused MAIL, and a RCPT, DATA or AUTH that gets a 4xx, but for recipients beyond `api.max_recipients`; then 421.',
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
    'How long the greeting waits for early talkers, such as HTTP clients, where the source has sent a message in the last 10 minutes, and no HTTP request: after one it waits at least 250 ms.',
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
    0,
    'Least pace of a message, over ten seconds, and between its chunks (BDAT) too. A slower one is broken off. 0 means any: a person may type a message, and a device may stop to think. What a message holds of the memory must come in [within ten minutes](smtp.md#time-outs) besides.',
  ),
};
