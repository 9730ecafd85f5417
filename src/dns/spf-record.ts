/** The grammar of SPF records (RFC 7208 §4.6, §5). */

/** What a mechanism that matches says of the sender. */
export type SpfQualifier = 'pass' | 'fail' | 'softfail' | 'neutral';

/** A mechanism, in the order of the record. */
export interface SpfMechanism {
  readonly qualifier: SpfQualifier;
  readonly name: 'all' | 'include' | 'a' | 'mx' | 'ptr' | 'ip4' | 'ip6' | 'exists';
  /** The domain or range behind the colon; empty means the domain itself. May hold macros. */
  readonly value: string;
  /** Bits that count of an IPv4 and of an IPv6 address, of `a` and `mx`. */
  readonly bits: { readonly ipv4: number; readonly ipv6: number };
}

/** A record. */
export interface SpfRecord {
  readonly mechanisms: readonly SpfMechanism[];
  /** Where it goes on when nothing matched; null when it does not. */
  readonly redirect: string | null;
}

/** A record, or the first term that is none. */
export type SpfReading =
  | { readonly ok: true; readonly record: SpfRecord }
  | { readonly ok: false; readonly term: string };

const MAX_TERMS = 200;
const QUALIFIERS: Readonly<Record<string, SpfQualifier>> = {
  '+': 'pass',
  '-': 'fail',
  '~': 'softfail',
  '?': 'neutral',
};
const MECHANISM =
  /^([-+~?]?)(all|include|a|mx|ptr|ip4|ip6|exists)(?::([!-~]+?))?((?:\/[0-9]{1,3})?(?:\/\/[0-9]{1,3})?)$/i;
const MODIFIER = /^([a-z][a-z0-9_.-]*)=([!-~]*)$/i;
const NEEDS_VALUE = ['include', 'ip4', 'ip6', 'exists'];
const TAKES_BITS = ['a', 'mx', 'ip4', 'ip6'];

/** Those of a name's TXT records that mean to be SPF records (RFC 7208 §4.5): of more than one none counts. */
export function spfRecords(records: readonly string[]): readonly string[] {
  return records.filter((text) => /^v=spf1(?: |$)/i.test(text));
}

/** Reads a record that {@link spfRecords} gave. Modifiers that are not known are passed over. */
export function parseSpf(text: string): SpfReading {
  const terms = text
    .split(' ')
    .filter((term) => term !== '')
    .slice(1);
  if (terms.length > MAX_TERMS) return { ok: false, term: `(more than ${MAX_TERMS} terms)` };
  const mechanisms: SpfMechanism[] = [];
  let redirect: string | null = null;
  for (const term of terms) {
    const mechanism = parseMechanism(term);
    const [, name = '', value = ''] = MODIFIER.exec(term) ?? [];
    if (mechanism !== null) mechanisms.push(mechanism);
    else if (name.toLowerCase() === 'redirect' && value !== '' && redirect === null) redirect = value;
    else if (name === '' || name.toLowerCase() === 'redirect') return { ok: false, term };
  }
  return { ok: true, record: { mechanisms, redirect } };
}

/** Whether a term has macros in it, which depend on the single message (RFC 7208 §7). */
export function hasMacro(value: string): boolean {
  return value.includes('%');
}

function parseMechanism(term: string): SpfMechanism | null {
  const [, sign = '', written = '', rest = '', length = ''] = MECHANISM.exec(term) ?? [];
  const name = NAMES.find((known) => known === written.toLowerCase());
  if (name === undefined) return null;
  const [, four, six] = /^(?:\/([0-9]+))?(?:\/\/([0-9]+))?$/.exec(length) ?? [];
  const isRange = name === 'ip4' || name === 'ip6';
  if (NEEDS_VALUE.includes(name) !== (rest !== '') && (NEEDS_VALUE.includes(name) || name === 'all'))
    return null;
  if (length !== '' && !TAKES_BITS.includes(name)) return null;
  if (isRange && six !== undefined) return null;
  const bits = { ipv4: Number(four ?? 32), ipv6: Number(six ?? 128) };
  if (!isRange && (bits.ipv4 > 32 || bits.ipv6 > 128)) return null;
  const value = isRange ? rest + length : rest;
  return { qualifier: QUALIFIERS[sign] ?? 'pass', name, value, bits };
}

const NAMES = ['all', 'include', 'a', 'mx', 'ptr', 'ip4', 'ip6', 'exists'] as const;
