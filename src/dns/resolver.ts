import { parseDomain } from '../domain/domain-name.ts';
import { localReply, type Reply } from '../domain/outcome.ts';

/** The seam of the DNS: questions and answers. Scripted in tests, over sockets in `dns/client`. */

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
  /** A name, lower case, without the last dot. */
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

/** A type of record that can be asked for. Aliases (CNAME) are followed, and are no answer. */
export type RecordType = keyof RecordData;

/** The answer to a question. */
export type DnsAnswer<T extends RecordType> =
  | {
      readonly kind: 'found';
      /** At least one, in the order in which they came. */
      readonly records: readonly RecordData[T][];
      /** Where aliases led to; the name asked for without any. */
      readonly canonicalName: string;
      /** The resolver says that it validated the answer (AD), and is trusted to have (`dns.trust_ad`). */
      readonly authenticated: boolean;
      /** For how long it may be used again, in seconds. */
      readonly ttlSeconds: number;
    }
  /** There is no such name, or no record of this type there. */
  | { readonly kind: 'nxdomain' | 'nodata'; readonly authenticated: boolean; readonly ttlSeconds: number }
  /** Nothing is known: to be asked again later. */
  | { readonly kind: 'failed'; readonly cause: DnsFailure; readonly text: string };

/** Why nothing is known. `invalid`: the name cannot be asked for. */
export type DnsFailure = 'dns_servfail' | 'dns_timeout' | 'dns_refused' | 'dns_malformed' | 'dns_invalid';

/** Asks the DNS. */
export interface Resolver {
  /** Never rejects: when `signal` aborts the answer is `dns_timeout`. `name` may be IDN; a trailing dot is ignored. */
  resolve<T extends RecordType>(name: string, type: T, signal: AbortSignal): Promise<DnsAnswer<T>>;
}

/** What is said of mail that cannot go on, for what the DNS holds or does not say. */

/** Mail cannot go there: never (`rejected`), or not now (`deferred`). */
export interface DnsRefusal {
  readonly kind: 'rejected' | 'deferred';
  /** Its enhanced code and cause say which: see {@link selectHosts} and {@link lookUpAddresses}. */
  readonly reply: Reply;
}

/** Never. */
export function rejected(cause: string, enhanced: string, text: string): DnsRefusal {
  return { kind: 'rejected', reply: localReply(cause, enhanced, text) };
}

/** Not now. */
export function deferred(cause: string, enhanced: string, text: string): DnsRefusal {
  return { kind: 'deferred', reply: localReply(cause, enhanced, text) };
}

/** Nothing is known: 4.4.3, to be tried again; a name that can never be asked for is 5.1.2. */
export function unanswered(
  answer: Extract<DnsAnswer<RecordType>, { kind: 'failed' }>,
  what: string,
): DnsRefusal {
  const text = `${what}: ${answer.text}`;
  return answer.cause === 'dns_invalid'
    ? rejected(answer.cause, '5.1.2', text)
    : deferred(answer.cause, '4.4.3', text);
}

/** Domain names as text: lower case, without the last dot; what is no letter, digit, `-` or `_` is escaped. */

/** RFC 1035 §2.3.4: 255 octets on the wire leave this many characters. */
const MAX_NAME = 253;
const ASCII = /^[\0-\x7f]*$/;
/** Host names, and the service labels before them (RFC 8552), which begin with an underscore. */
const LABELS = /^[a-z0-9_-]{1,63}(?:\.[a-z0-9_-]{1,63})*$/;
const DIGITS_LAST = /(?:^|\.)[0-9]+$/;

/**
 * A name as it is asked for: lower case, in A-labels, without the last dot; labels that begin with an underscore
 * may stand in front. Null when it cannot be a name.
 */
export function parseQueryName(text: string): string | null {
  const plain = text.endsWith('.') ? text.slice(0, -1) : text;
  const name = ASCII.test(plain) ? plain.toLowerCase() : toAscii(plain);
  return name !== null && isName(name) ? name : null;
}

/** Whether a name that an MX record gives can be a host's. An IP address is none (RFC 5321 §5.1). */
export function isHostName(name: string): boolean {
  return isName(name) && !DIGITS_LAST.test(name);
}

function isName(name: string): boolean {
  return name.length <= MAX_NAME && LABELS.test(name);
}

/** What is behind the service labels is a mail domain, and is read as one. */
function toAscii(text: string): string | null {
  const service = /^(?:_[a-z0-9_-]+\.)*/i.exec(text)?.[0] ?? '';
  const domain = parseDomain(text.slice(service.length));
  return domain === null || domain.startsWith('[') ? null : service.toLowerCase() + domain;
}
