/** The grammar of SPF records (RFC 7208 §4.6, §5, §7): one wrong term, wherever it stands, and the record counts for nothing. */
import { familyOf } from '../lib/network.ts';
import { isHostName, parseQueryName } from './name.ts';

/** What a mechanism that matches says of the sender. */
export type SpfQualifier = 'pass' | 'fail' | 'softfail' | 'neutral';

/** A mechanism, in the order of the record. */
export interface SpfMechanism {
  readonly qualifier: SpfQualifier;
  readonly name: 'all' | 'include' | 'a' | 'mx' | 'ptr' | 'ip4' | 'ip6' | 'exists';
  /** The domain or range behind the colon; empty means the domain itself. May hold macros. */
  readonly value: string;
  /** Bits that count of an IPv4 and of an IPv6 address, of `a` and `mx`; a range says its own in its value. */
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
/** Those that mean something, and may stand once (RFC 7208 §6). */
const KNOWN_MODIFIERS = ['redirect', 'exp'];
/** A number of bits has no leading zero (RFC 7208 §5.6). */
const BITS = /^(?:0|[1-9][0-9]{0,2})$/;
/** A macro (RFC 7208 §7.1); `c`, `r` and `t` are for explanations alone, and a count is not 0. */
const DOMAIN_MACRO = /%(?:[%_-]|\{[slodiphv](?!0+[r.+,/_=}-])[0-9]*r?[.+,/_=-]*\})/gi;
const ANY_MACRO = /%(?:[%_-]|\{[slodiphcrtv](?!0+[r.+,/_=}-])[0-9]*r?[.+,/_=-]*\})/gi;
/** The last label of a name is no number (RFC 7208 §7.1). */
const TOP_LABEL = /\.(?![0-9]+\.?$)[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.?$/i;
const ALL_BITS = { ipv4: 32, ipv6: 128 };
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
  const modifiers = new Map<string, string>();
  for (const term of terms) {
    const mechanism = parseMechanism(term);
    if (mechanism !== null) mechanisms.push(mechanism);
    else if (!addModifier(term, modifiers)) return { ok: false, term };
  }
  return { ok: true, record: { mechanisms, redirect: modifiers.get('redirect') ?? null } };
}

/** Adds what a term says where that matters; false when it is none, or says again what is there. */
function addModifier(term: string, modifiers: Map<string, string>): boolean {
  const [, written = '', value = ''] = MODIFIER.exec(term) ?? [];
  const name = written.toLowerCase();
  if (!KNOWN_MODIFIERS.includes(name)) return name !== '' && !value.replace(ANY_MACRO, '').includes('%');
  if (modifiers.has(name) || !isDomainSpec(value)) return false;
  modifiers.set(name, value);
  return true;
}

/** A name of two labels or more, or what becomes one when its macros are known (RFC 7208 §7.1). */
function isDomainSpec(text: string): boolean {
  if (!hasMacro(text)) {
    const name = parseQueryName(text);
    return name !== null && isHostName(name) && TOP_LABEL.test(text);
  }
  const rest = text.replace(DOMAIN_MACRO, '%');
  if (rest.replaceAll('%', '').length !== rest.length - (text.match(DOMAIN_MACRO) ?? []).length) return false;
  return rest.endsWith('%') || TOP_LABEL.test(rest);
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
  if (rest === '' ? NEEDS_VALUE.includes(name) : name === 'all') return null;
  if (length !== '' && !TAKES_BITS.includes(name)) return null;
  if (![four, six].every((digits) => digits === undefined || BITS.test(digits))) return null;
  const qualifier = QUALIFIERS[sign] ?? 'pass';
  const bits = { ipv4: Number(four ?? ALL_BITS.ipv4), ipv6: Number(six ?? ALL_BITS.ipv6) };
  if (name === 'ip4' || name === 'ip6') {
    const isOfFamily = familyOf(rest) === (name === 'ip4' ? 4 : 6) && !rest.includes('%');
    const isLength = six === undefined && Number(four ?? 0) <= (name === 'ip4' ? 32 : 128);
    return isOfFamily && isLength ? { qualifier, name, value: rest + length, bits: ALL_BITS } : null;
  }
  if (bits.ipv4 > 32 || bits.ipv6 > 128 || (rest !== '' && !isDomainSpec(rest))) return null;
  return { qualifier, name, value: rest, bits };
}

const NAMES = ['all', 'include', 'a', 'mx', 'ptr', 'ip4', 'ip6', 'exists'] as const;
