/** Domains that mail is sent from, and the keys that sign for them (RFC 6376). */

/** How a key signs: `rsa-sha256` with 2048 bits or more, or `ed25519-sha256` (RFC 8463). */
export type DkimAlgorithm = 'rsa-sha256' | 'ed25519-sha256';

/** A domain that mail is sent from. */
export interface SendingDomain {
  /** In lower case, A-labels. */
  readonly name: string;
  /** Wall ms. */
  readonly since: number;
  readonly keys: readonly DomainKey[];
}

/** A key of a domain: its public half stands in the DNS under `<selector>._domainkey.<domain>`. */
export interface DomainKey {
  readonly selector: string;
  readonly algorithm: DkimAlgorithm;
  /** Base64, as in the `p=` of its record. */
  readonly publicKey: string;
  /** Base64 of the PKCS #8 DER. In clear only in memory; null when it cannot be read, or was destroyed. */
  readonly privateKey: string | null;
  /** Wall ms. */
  readonly createdAt: number;
  /** Since when it signs (wall ms); null while it waits until its record can be seen. */
  readonly activeSince: number | null;
  /** Since when another signs in its place (wall ms); null while it signs, or will. */
  readonly retiredAt: number | null;
}

/** How long the record of a retired key must stay, for mail that was signed and is still under way, in ms. */
export const OVERLAP_MS = 35 * 86_400_000;
