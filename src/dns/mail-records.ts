/** What a domain publishes of itself in TXT records: DKIM keys (RFC 6376), DMARC (RFC 7489), TLS reports (RFC 8460). */

/** A key's record, as far as it matters here. */
export interface DkimRecord {
  /** `k=`; rsa where it says nothing. */
  readonly keyType: string;
  /** `p=` without white space; empty: the key was revoked. */
  readonly publicKey: string;
  /** `t=y`: receivers treat the mail as unsigned. */
  readonly testing: boolean;
  /** `h=`: hash algorithms that may be used; null means all. */
  readonly hashes: readonly string[] | null;
  /** `s=` is there and allows neither mail nor all services. */
  readonly otherService: boolean;
}

/** A DMARC policy. */
export interface DmarcRecord {
  readonly policy: 'none' | 'quarantine' | 'reject';
  /** `sp=`: that for domains below which have none of their own; null: the same. */
  readonly below: DmarcRecord['policy'] | null;
  /** `pct=`: the part of the mail that it is for; 100 where it says nothing. */
  readonly percent: number;
  /** `psd=y`: the domain is a public suffix, and those below are other people's (RFC 9091). */
  readonly isSuffix: boolean;
  /** It says no policy that is one, and counts as none because it wants reports (RFC 7489 §6.6.3). */
  readonly isAssumed: boolean;
  /** Where reports on all mail go, as URIs without their size. */
  readonly reportTo: readonly string[];
}

/** The most tags looked at: no record that is meant has nearly as many. */
const MAX_TAGS = 64;
const NAME = /^[a-z][a-z0-9_]*$/i;
const POLICIES = ['none', 'quarantine', 'reject'] as const;

/** Tags of a list `name=value; …` (RFC 6376 §3.2), names as written; null when it is none, or names one twice. */
export function parseTags(text: string): ReadonlyMap<string, string> | null {
  const parts = text.split(';', MAX_TAGS + 1).map((part) => part.trim());
  if (parts.at(-1) === '') parts.pop();
  if (parts.length === 0 || parts.length > MAX_TAGS) return null;
  const tags = new Map<string, string>();
  for (const part of parts) {
    const at = part.indexOf('=');
    const name = part.slice(0, Math.max(0, at)).trim();
    if (!NAME.test(name) || tags.has(name)) return null;
    tags.set(name, part.slice(at + 1).trim());
  }
  return tags;
}

/** Reads a TXT record under `_domainkey` (RFC 6376 §3.6.1); null when it is no key. */
export function parseDkimRecord(text: string): DkimRecord | null {
  const tags = parseTags(text);
  if (tags === null) return null;
  const publicKey = tags.get('p');
  const version = tags.get('v');
  // A version must stand first where there is one.
  if (publicKey === undefined || (version !== undefined && (version !== 'DKIM1' || !/^\s*v/.test(text))))
    return null;
  const services = listOf(tags.get('s'));
  return {
    keyType: tags.get('k') ?? 'rsa',
    publicKey: publicKey.replace(/\s+/g, ''),
    testing: listOf(tags.get('t'))?.includes('y') ?? false,
    hashes: listOf(tags.get('h')),
    otherService: services !== null && !services.includes('*') && !services.includes('email'),
  };
}

/** Those of a name's TXT records that mean to be DMARC policies (RFC 7489 §6.6.3): of more than one none counts. */
export function dmarcRecords(records: readonly string[]): readonly string[] {
  return records.filter((text) => /^v\s*=\s*DMARC1\s*(?:;|$)/.test(text));
}

/** Reads a DMARC policy (RFC 7489 §6.3); null when it has a fault in what matters. */
export function parseDmarcRecord(text: string): DmarcRecord | null {
  const tags = parseTags(text);
  if (tags?.get('v') !== 'DMARC1') return null;
  const policy = policyOf(tags.get('p'));
  const below = policyOf(tags.get('sp'));
  const reportTo = urisOf(tags.get('rua'));
  const isSuffix = tags.get('psd')?.toLowerCase() === 'y';
  if (policy === undefined || (below === undefined && tags.has('sp'))) {
    if (!reportTo.some((uri) => /^[a-z][a-z0-9+.-]*:./i.test(uri))) return null;
    return { policy: 'none', below: null, percent: 100, isSuffix, isAssumed: true, reportTo };
  }
  const percent = /^(?:100|[0-9]{1,2})$/.test(tags.get('pct') ?? '') ? Number(tags.get('pct')) : 100;
  return { policy, below: below ?? null, percent, isSuffix, isAssumed: false, reportTo };
}

function policyOf(value: string | undefined): DmarcRecord['policy'] | undefined {
  return POLICIES.find((known) => known === value?.toLowerCase());
}

/** Those of a name's TXT records that mean to say where TLS reports go (RFC 8460 §3): of more than one none counts. */
export function tlsReportRecords(records: readonly string[]): readonly string[] {
  return records.filter((text) => /^v=TLSRPTv1\s*;/.test(text));
}

/** Where a record of RFC 8460 §3 sends reports; null when it has a fault. */
export function parseTlsReportRecord(text: string): readonly string[] | null {
  const uris = urisOf(parseTags(text)?.get('rua'));
  return uris.length > 0 && uris.every((uri) => /^(?:mailto|https):/i.test(uri)) ? uris : null;
}

/** A list with colons between (RFC 6376 §3.6.1). */
function listOf(value: string | undefined): readonly string[] | null {
  return value === undefined ? null : value.split(':').map((item) => item.trim().toLowerCase());
}

/** A list of URIs with commas between; a size may follow each (RFC 7489 §6.2). */
function urisOf(value: string | undefined): readonly string[] {
  return (value ?? '')
    .split(',')
    .map((uri) => uri.trim().replace(/![0-9]+[kmgt]?$/i, ''))
    .filter((uri) => uri !== '');
}
