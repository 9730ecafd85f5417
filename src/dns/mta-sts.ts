/** MTA-STS (RFC 8461): what a domain publishes about TLS to its mail servers. */

/** A policy as its file has it. */
export interface MtaStsPolicy {
  /** `enforce`: no mail to a host that does not match, or without verified TLS. `testing` and `none` ask for nothing. */
  readonly mode: 'enforce' | 'testing' | 'none';
  /** Lower case; `*.` stands for exactly one label. Empty only with mode `none`. */
  readonly mx: readonly string[];
  readonly maxAgeSeconds: number;
}

/** The id of the one record among the TXT records of `_mta-sts.DOMAIN`; null when there is none, or more than one. */
export function parseStsRecord(records: readonly string[]): string | null {
  void records;
  return null;
}

/** A policy file, or what is wrong with it. */
export function parseStsPolicy(
  text: string,
): { readonly ok: true; readonly policy: MtaStsPolicy } | { readonly ok: false; readonly reason: string } {
  void text;
  return { ok: false, reason: '' };
}

/** Whether a policy names a host (RFC 8461 §4.1). The host's certificate must be good for its name besides. */
export function matchesPolicy(policy: MtaStsPolicy, host: string): boolean {
  void [policy, host];
  return false;
}
