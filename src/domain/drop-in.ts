/** The providers whose APIs applications may go on using here (contract-2 §C): settings and ingest both name them. */
export const PROVIDER_NAMES = ['resend', 'postmark', 'sendgrid', 'mailgun', 'ses'] as const;

/** See {@link PROVIDER_NAMES}. */
export type ProviderName = (typeof PROVIDER_NAMES)[number];
