/** The types of relay that can be declared, and their defaults. */
import type { ProviderType } from '../domain/relay.ts';

/** The types with an API over HTTPS. */
export const PROVIDER_TYPES = [
  'ses',
  'mailgun',
  'postmark',
  'sendgrid',
  'resend',
  'graph',
  'webhook',
] as const satisfies readonly ProviderType[];

/** The types that speak SMTP. */
export const SMTP_TYPES = ['smtp', 'mx'] as const;

/** The types of relay that can be declared. */
export const RELAY_TYPES = [...SMTP_TYPES, ...PROVIDER_TYPES] as const;
/** One of them. */
export type DeclaredType = (typeof RELAY_TYPES)[number];

/** The default for the most attempts at once over HTTPS. */
const PROVIDER_CONCURRENCY = 10;
/** The defaults for the most attempts at once, by type. */
export const USUAL_CONCURRENCY: Readonly<Record<DeclaredType, number>> = {
  smtp: 20,
  mx: 100,
  ses: PROVIDER_CONCURRENCY,
  mailgun: PROVIDER_CONCURRENCY,
  postmark: PROVIDER_CONCURRENCY,
  sendgrid: PROVIDER_CONCURRENCY,
  resend: PROVIDER_CONCURRENCY,
  // Exchange Online's limit of concurrent requests for a mailbox; it refuses more.
  graph: 4,
  webhook: PROVIDER_CONCURRENCY,
};

/** The default for the most recipients in one SMTP transaction. */
export const USUAL_RECIPIENTS = 100;
/** The most recipients that a provider accepts in one request, and so the highest setting. */
export const MOST_RECIPIENTS: Readonly<Record<ProviderType, number>> = {
  ses: 50,
  mailgun: 1000,
  postmark: 50,
  sendgrid: 1000,
  resend: 50,
  graph: 500,
  webhook: 1000,
};

/** The default authority for Microsoft's tokens. */
export const MICROSOFT_AUTHORITY = 'https://login.microsoftonline.com';
/** The default token endpoint of Google. */
export const GOOGLE_TOKEN_URL = 'https://oauth2.googleapis.com/token';
/** The default scopes of a smarthost's tokens, by preset. */
export const PRESET_SCOPES = {
  microsoft: 'https://outlook.office365.com/.default',
  google: 'https://mail.google.com/',
} as const;
/** The regions of Mailgun, each with its endpoint. */
export const MAILGUN_ENDPOINTS = { us: 'https://api.mailgun.net', eu: 'https://api.eu.mailgun.net' } as const;
/** The endpoints of the providers that have one. */
export const PUBLIC_ENDPOINTS = {
  postmark: 'https://api.postmarkapp.com',
  sendgrid: 'https://api.sendgrid.com',
  resend: 'https://api.resend.com',
  graph: 'https://graph.microsoft.com/v1.0',
} as const;

/** The endpoint of SES in a region. */
export function sesEndpoint(region: string): string {
  return `https://email.${region}.amazonaws.com`;
}

/** Whether a type uses an API over HTTPS. */
export function isProviderType(type: string): type is ProviderType {
  return PROVIDER_TYPES.some((known) => known === type);
}

/** The default steps of a warm-up, in recipients a day: fifty at first, doubling every day up to a hundred thousand. */
export const USUAL_WARM_UP: readonly number[] = [
  50, 100, 200, 400, 800, 1600, 3200, 6400, 12_800, 25_600, 51_200, 100_000,
];
