import type { RelayType } from './lane.ts';

/** How a connection to a smarthost is secured (contract §11). */
export type TlsMode = 'required' | 'opportunistic' | 'implicit' | 'none';

/** The only mechanism that AUTH may use; absent, it depends on what the server offers. */
export type AuthMode = 'plain' | 'login' | 'xoauth2';

/** The providers whose OAuth settings are built in. */
export const OAUTH_PRESETS = ['microsoft', 'google'] as const;

/**
 * Where the bounces of a relay's mail go (contract-2 §A2): to a return path of ours, to the sender's own address, or,
 * `auto`, to ours with type `mx` where there is a bounce domain.
 */
export const RETURN_PATHS = ['auto', 'verp', 'keep'] as const;

/** How to get access tokens for AUTH (OAuth 2.0, RFC 6749). */
export interface OAuthSettings {
  readonly preset: (typeof OAUTH_PRESETS)[number] | null;
  /** The id or a domain of the Microsoft Entra tenant; null if `tokenUrl` was given. */
  readonly tenant: string | null;
  readonly tokenUrl: string;
  readonly scope: string | null;
  /** Connections to private and loopback addresses, and plain HTTP, are allowed (file and environment only). */
  readonly allowPrivate: boolean;
  readonly grant: OAuthGrant;
}

/** The grant for an access token. Secrets are in clear only in memory; encrypted at rest; never logged. */
export type OAuthGrant =
  /** RFC 6749 §4.4. */
  | { readonly kind: 'client_credentials'; readonly clientId: string; readonly secret: string }
  /** RFC 6749 §6; the secret is null for a client without one. */
  | {
      readonly kind: 'refresh_token';
      readonly clientId: string;
      readonly secret: string | null;
      readonly refreshToken: string;
    }
  /** A JWT signed with RS256 (RFC 7523 §2.1). */
  | {
      readonly kind: 'service_account';
      /** The address of the service account, which signs. */
      readonly account: string;
      /** The id of its key; null to omit it. */
      readonly keyId: string | null;
      /** In PEM. */
      readonly privateKey: string;
      /** The user that it impersonates. */
      readonly subject: string;
    };

/** Where to get Microsoft's tokens for a tenant. */
export function microsoftTokenUrl(authority: string, tenant: string): string {
  return `${authority}/${encodeURIComponent(tenant)}/oauth2/v2.0/token`;
}

/** Limits of every type of relay. */
export interface RelayLimits {
  /** Attempts at once, over all its lanes on this node. */
  readonly maxConcurrency: number;
  /** Attempts begun per second; 0 means no limit. */
  readonly maxRatePerSecond: number;
  /** Larger messages fail with 5.3.4; 0 means no limit of ours. */
  readonly maxMessageBytes: number;
  /** Recipients in one transaction. */
  readonly maxRecipients: number;
  /** Recipients per UTC day, over all nodes; 0 means no limit. */
  readonly maxPerDay: number;
  /** Percent of a day's recipients reserved for mail of high priority. */
  readonly reservePercent: number;
  /** Lower daily limits while the relay's addresses earn a reputation; null if they have one. */
  readonly warmUp: WarmUp | null;
}

/** How many recipients a relay may have on each of its first days. */
export interface WarmUp {
  /** The first day: whole UTC days since the epoch. */
  readonly startDay: number;
  /** Recipients on the first day, the second, and so on; after the last, only `maxPerDay` applies. Not empty. */
  readonly perDay: readonly number[];
}

/** A named way to send mail. */
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
  /** Present exactly for providers with an HTTPS API. */
  readonly provider: ProviderSettings | null;
}

/** The common settings of all providers. */
interface ProviderBase {
  /** Base URL of its API, without a trailing slash; for a webhook the whole URL. */
  readonly endpoint: string;
  /** Connections to private and loopback addresses, and plain HTTP, are allowed (file and environment only). */
  readonly allowPrivate: boolean;
  /**
   * The API key, secret access key, server token, client secret or signing secret. In clear only in memory; encrypted
   * at rest; never logged. Empty if it cannot be read: then the relay is disabled.
   */
  readonly secret: string;
}

/** What proves a provider's webhooks (contract-2 §A4); absent equals null. No delivery needs it. */
interface ProviderWebhooks {
  /** `ses`: the only SNS topic whose events count; null for any. */
  readonly webhookTopicArn?: string | null;
  /** `sendgrid`: the verification key, SubjectPublicKeyInfo in base64. */
  readonly webhookPublicKey?: string | null;
  /** `postmark`: the user name of Basic authentication. */
  readonly webhookUsername?: string | null;
  /** `mailgun`, `postmark`, `resend`: in clear only in memory, like the other secret. */
  readonly webhookSecret?: string | null;
}

/** How to use a provider's API. */
export type ProviderSettings = ProviderBase &
  ProviderWebhooks &
  (
    | {
        readonly type: 'ses';
        readonly region: string;
        readonly accessKeyId: string;
        readonly configurationSet: string | null;
      }
    | { readonly type: 'mailgun'; readonly domain: string }
    | { readonly type: 'postmark'; readonly messageStream: string | null }
    | { readonly type: 'sendgrid' | 'resend' | 'webhook' }
    | {
        readonly type: 'graph';
        readonly tenant: string;
        readonly clientId: string;
        /** The mailbox that sends; null: that of the message's From. */
        readonly mailbox: string | null;
        /** Where to get tokens, like `endpoint`. */
        readonly authority: string;
      }
  );

/** The type of a provider. */
export type ProviderType = ProviderSettings['type'];

/** The largest message that a provider is offered, in bytes as stored. */
export const PROVIDER_MAX_BYTES: Readonly<Record<ProviderType, number>> = {
  /** Its quota; an account with a lower one answers 413 or BadRequestException. */
  ses: 40_000_000,
  mailgun: 25_000_000,
  postmark: 10 * 1024 * 1024,
  sendgrid: 30 * 1024 * 1024,
  /** With files in base64, as in a stored message. */
  resend: 40 * 1024 * 1024,
  /** It takes requests of 4 MB, and base64 makes four bytes of three. */
  graph: (4_000_000 / 4) * 3,
  webhook: 50 * 1024 * 1024,
};

/** The providers whose webhooks are taken (contract-2 §A4). */
export const HOOK_TYPES = [
  'ses',
  'sendgrid',
  'mailgun',
  'postmark',
  'resend',
] as const satisfies readonly ProviderType[];

/** See {@link HOOK_TYPES}. */
export type HookType = (typeof HOOK_TYPES)[number];

/** Their APIs have no envelope: the header tells who gets a message. */
const WITHOUT_ENVELOPE: ReadonlySet<ProviderType> = new Set(['postmark', 'sendgrid', 'resend', 'graph']);

/** Whether the next hop takes a message for all of its recipients or for none: it would refuse a part of them. */
export function takesWhole({ provider }: Pick<Relay, 'provider'>): boolean {
  return provider !== null && WITHOUT_ENVELOPE.has(provider.type);
}

/** How a relay introduces itself and its mail: its source addresses, its EHLO name, its reverse-paths. */
export interface OriginSettings {
  /** EHLO name; null means the server's. */
  readonly helo: string | null;
  /** Our source addresses, used in turn; empty means the system's choice. */
  readonly sourceIps: readonly string[];
  readonly ipFamily: 'any' | 'ipv4' | 'ipv6';
  readonly returnPath: (typeof RETURN_PATHS)[number];
}

/** How an `mx` relay delivers to the recipients' own servers. */
export interface MxSettings extends OriginSettings {
  /** The port of the recipients' servers: 25, except in tests. */
  readonly port: number;
  /** `opportunistic` (with MTA-STS and DANE enforced where published), or `required`: never in clear. */
  readonly tls: 'opportunistic' | 'required';
  /** Connections to hosts with private or loopback addresses are allowed (file and environment only). */
  readonly allowPrivate: boolean;
  /** Attempts at once to one recipient domain. */
  readonly maxPerDomain: number;
  /** Known limits of the big mailbox providers apply (`domain/mailbox-provider.ts`). */
  readonly presets: boolean;
}

/** The connection of an `smtp` relay. */
export interface SmarthostSettings extends OriginSettings {
  readonly host: string;
  readonly port: number;
  readonly tls: TlsMode;
  /** Check the certificate against the host's name and the system's trusted roots. */
  readonly verify: boolean;
  readonly username: string | null;
  /** In clear only in memory; encrypted at rest; never logged. */
  readonly password: string | null;
  /** Absent: PLAIN or LOGIN, whichever the server offers. */
  readonly auth?: AuthMode;
  /** Present exactly with `auth: xoauth2`; there is no password then. */
  readonly oauth?: OAuthSettings;
  /** It may not have a link-local address, where clouds serve machine metadata. */
  readonly noLinkLocal?: true;
}

/** A relay's name: 1 to 64 of `a-z 0-9 - _` (contract §11). */
export const RELAY_NAME = /^[a-z0-9_-]{1,64}$/;

/** The built-in relay that captures mail locally, and the default route of a new installation. */
export const INBOX = 'inbox';
