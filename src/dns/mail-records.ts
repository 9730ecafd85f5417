/** A domain's TXT records about its mail: DKIM keys (RFC 6376), DMARC (RFC 7489), TLS reports (RFC 8460). */

/** The relevant tags of a key's record. */
export interface DkimRecord {
  /** `k=`; rsa by default. */
  readonly keyType: string;
  /** `p=` without white space; empty: the key was revoked. */
  readonly publicKey: string;
  /** `t=y`: receivers treat the mail as unsigned. */
  readonly testing: boolean;
  /** `h=`: hash algorithms that may be used; null means all. */
  readonly hashes: readonly string[] | null;
  /** `s=` is present and allows neither mail nor all services. */
  readonly otherService: boolean;
}

/** A DMARC policy. */
export interface DmarcRecord {
  readonly policy: 'none' | 'quarantine' | 'reject';
  /** `sp=`: the policy for subdomains without their own; null: the same. */
  readonly below: DmarcRecord['policy'] | null;
  /** `pct=`: the share of the mail that it applies to; 100 by default. */
  readonly percent: number;
  /** `psd=y`: the domain is a public suffix, and its subdomains belong to others (RFC 9091). */
  readonly isSuffix: boolean;
  /** It has no valid policy, and counts as `none` because it requests reports (RFC 7489 §6.6.3). */
  readonly isAssumed: boolean;
  /** Addresses for reports on all mail, as URIs without their size. */
  readonly reportTo: readonly string[];
}

/** Most tags to read: no genuine record has nearly as many. */
const MAX_TAGS = 64;
const NAME = /^[a-z][a-z0-9_]*$/i;
const POLICIES = ['none', 'quarantine', 'reject'] as const;

/** The tags of a list `name=value; …` (RFC 6376 §3.2), names as written; null if it is malformed, or repeats a name. */
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

/** Parses a TXT record under `_domainkey` (RFC 6376 §3.6.1); null if it is not a key. */
export function parseDkimRecord(text: string): DkimRecord | null {
  const tags = parseTags(text);
  if (tags === null) return null;
  const publicKey = tags.get('p');
  const version = tags.get('v');
  // A version, if present, must come first.
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

/** The TXT records that claim to be DMARC policies (RFC 7489 §6.6.3): of several none counts. */
export function dmarcRecords(records: readonly string[]): readonly string[] {
  return records.filter((text) => /^v\s*=\s*DMARC1\s*(?:;|$)/.test(text));
}

/** Parses a DMARC policy (RFC 7489 §6.3); null if a relevant tag is faulty. */
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

/** The TXT records that claim to say where TLS reports go (RFC 8460 §3): of several none counts. */
export function tlsReportRecords(records: readonly string[]): readonly string[] {
  return records.filter((text) => /^v=TLSRPTv1\s*;/.test(text));
}

/** The addresses for reports in a record of RFC 8460 §3; null if it is faulty. */
export function parseTlsReportRecord(text: string): readonly string[] | null {
  const uris = urisOf(parseTags(text)?.get('rua'));
  return uris.length > 0 && uris.every((uri) => /^(?:mailto|https):/i.test(uri)) ? uris : null;
}

/** A colon-separated list (RFC 6376 §3.6.1). */
function listOf(value: string | undefined): readonly string[] | null {
  return value === undefined ? null : value.split(':').map((item) => item.trim().toLowerCase());
}

/** A comma-separated list of URIs, each perhaps with a size (RFC 7489 §6.2). */
function urisOf(value: string | undefined): readonly string[] {
  return (value ?? '')
    .split(',')
    .map((uri) => uri.trim().replace(/![0-9]+[kmgt]?$/i, ''))
    .filter((uri) => uri !== '');
}
