import type { RelayType } from './lane.ts';

/** How a connection to a smarthost is secured (contract §11). */
export type TlsMode = 'required' | 'opportunistic' | 'implicit' | 'none';

/** Limits that every type of relay has. */
export interface RelayLimits {
  /** Attempts at once, over all its lanes on this node. */
  readonly maxConcurrency: number;
  /** Attempts begun a second; 0 means no limit. */
  readonly maxRatePerSecond: number;
  /** Larger messages fail with 5.3.4; 0 means no limit of ours. */
  readonly maxMessageBytes: number;
  /** Recipients in one transaction. */
  readonly maxRecipients: number;
}

/** A named way out. */
export interface Relay {
  readonly name: string;
  readonly type: RelayType;
  readonly limits: RelayLimits;
  /** Where it was declared; only stored ones can be changed at run time. */
  readonly origin: 'builtin' | 'file' | 'stored';
  readonly disabled: boolean;
  /** Present exactly for type `smtp`. */
  readonly smtp: SmarthostSettings | null;
  /** Present exactly for type `mx`. */
  readonly mx: MxSettings | null;
}

/** Where a relay's connections come from, and how they introduce themselves. */
export interface OriginSettings {
  /** EHLO name; null means the server's. */
  readonly helo: string | null;
  /** Addresses of ours to connect from, in turn; empty means the system's choice. */
  readonly sourceIps: readonly string[];
  readonly ipFamily: 'any' | 'ipv4' | 'ipv6';
}

/** How an `mx` relay delivers to the recipients' own servers. */
export interface MxSettings extends OriginSettings {
  /** The port of the recipients' servers: 25, but for tests. */
  readonly port: number;
  /** `opportunistic` (with MTA-STS and DANE enforced where published), or `required`: never in clear. */
  readonly tls: 'opportunistic' | 'required';
  /** Connections to hosts with private or loopback addresses are allowed (file and environment only). */
  readonly allowPrivate: boolean;
  /** Attempts at once to one recipient domain. */
  readonly maxPerDomain: number;
}

/** What an `smtp` relay connects to. */
export interface SmarthostSettings extends OriginSettings {
  readonly host: string;
  readonly port: number;
  readonly tls: TlsMode;
  /** Check the certificate against the host's name and the system's roots. */
  readonly verify: boolean;
  readonly username: string | null;
  /** In clear only in memory; encrypted at rest; never logged. */
  readonly password: string | null;
}

/** A relay's name: 1 to 64 of `a-z 0-9 - _` (contract §11). */
export const RELAY_NAME = /^[a-z0-9_-]{1,64}$/;

/** The built-in relay that captures mail locally and is the default route of a new install. */
export const INBOX = 'inbox';
