import { parseDomain } from '../domain/domain-name.ts';
import { localReply, type Reply } from '../domain/outcome.ts';

/** The interface of the DNS: questions and answers. Scripted in tests, over sockets in `dns/client`. */

/** A record's data, by type. */
export interface RecordData {
  /** IPv4 address. */
  readonly A: string;
  /** IPv6 address in its shortest form. */
  readonly AAAA: string;
  /** `exchange` is '' for the root: null MX (RFC 7505). */
  readonly MX: { readonly preference: number; readonly exchange: string };
  /** One record, its strings joined. */
  readonly TXT: string;
  /** A name, lower case, without the trailing dot. */
  readonly PTR: string;
  /** RFC 6698 §2.1. */
  readonly TLSA: {
    readonly usage: number;
    readonly selector: number;
    readonly matchingType: number;
    /** Hex, lower case. */
    readonly data: string;
  };
}

/** A type of record that can be asked for. Aliases (CNAME) are followed, and are not answers. */
export type RecordType = keyof RecordData;

/** The answer to a question. */
export type DnsAnswer<T extends RecordType> =
  | {
      readonly kind: 'found';
      /** At least one, in the order of the response. */
      readonly records: readonly RecordData[T][];
      /** The name after all aliases; the name asked for if there are none. */
      readonly canonicalName: string;
      /** The resolver says that it validated the answer (AD), and is trusted (`dns.trust_ad`). */
      readonly authenticated: boolean;
      /** How long it may be reused, in seconds. */
      readonly ttlSeconds: number;
    }
  /** There is no such name, or it has no record of this type. */
  | { readonly kind: 'nxdomain' | 'nodata'; readonly authenticated: boolean; readonly ttlSeconds: number }
  /** Nothing is known: ask again later. */
  | { readonly kind: 'failed'; readonly cause: DnsFailure; readonly text: string };

/** Why nothing is known. `invalid`: the name cannot be asked for. */
export type DnsFailure = 'dns_servfail' | 'dns_timeout' | 'dns_refused' | 'dns_malformed' | 'dns_invalid';

/** Asks the DNS. */
export interface Resolver {
  /** Never rejects: when `signal` aborts the answer is `dns_timeout`. `name` may be IDN; a trailing dot is ignored. */
  resolve<T extends RecordType>(name: string, type: T, signal: AbortSignal): Promise<DnsAnswer<T>>;
}

// Replies for mail that the DNS, or its silence, keeps from being delivered.

/** Mail cannot be delivered: never (`rejected`), or not now (`deferred`). */
export interface DnsRefusal {
  readonly kind: 'rejected' | 'deferred';
  /** Enhanced code and cause give the reason: see {@link selectHosts} and {@link lookUpAddresses}. */
  readonly reply: Reply;
  /** Of a permanent one: another relay may accept the message. */
  readonly hopBound?: true;
}

/** The permanent refusal with this reply. */
export function rejected(cause: string, enhanced: string, text: string): DnsRefusal {
  return { kind: 'rejected', reply: localReply(cause, enhanced, text) };
}

/** The temporary refusal with this reply. */
export function deferred(cause: string, enhanced: string, text: string): DnsRefusal {
  return { kind: 'deferred', reply: localReply(cause, enhanced, text) };
}

/** Nothing is known: 4.4.3, to be retried; a name that can never be asked for is 5.1.2. */
export function unanswered(
  answer: Extract<DnsAnswer<RecordType>, { kind: 'failed' }>,
  what: string,
): DnsRefusal {
  const text = `${what}: ${answer.text}`;
  return answer.cause === 'dns_invalid'
    ? rejected(answer.cause, '5.1.2', text)
    : deferred(answer.cause, '4.4.3', text);
}

// Domain names as text: lower case, without the trailing dot; anything but letters, digits, `-` and `_` is escaped.

/** RFC 1035 §2.3.4: 255 octets on the wire leave this many characters. */
const MAX_NAME = 253;
const ASCII = /^[\0-\x7f]*$/;
/** Host names, optionally after service labels (RFC 8552), which begin with an underscore. */
const LABELS = /^[a-z0-9_-]{1,63}(?:\.[a-z0-9_-]{1,63})*$/;
const DIGITS_LAST = /(?:^|\.)[0-9]+$/;

/**
 * A name in query form: lower case, in A-labels, without the trailing dot; labels that begin with an underscore may
 * precede it. Null if it is not a valid name.
 */
export function parseQueryName(text: string): string | null {
  const plain = text.endsWith('.') ? text.slice(0, -1) : text;
  const name = ASCII.test(plain) ? plain.toLowerCase() : toAscii(plain);
  return name !== null && isName(name) ? name : null;
}

/** Whether an MX record's name can be a host. An IP address is not (RFC 5321 §5.1). */
export function isHostName(name: string): boolean {
  return isName(name) && !DIGITS_LAST.test(name);
}

function isName(name: string): boolean {
  return name.length <= MAX_NAME && LABELS.test(name);
}

/** The part after the service labels is a mail domain, and parsed as one. */
function toAscii(text: string): string | null {
  const service = /^(?:_[a-z0-9_-]+\.)*/i.exec(text)?.[0] ?? '';
  const domain = parseDomain(text.slice(service.length));
  return domain === null || domain.startsWith('[') ? null : service.toLowerCase() + domain;
}
