import { isFor, RELAY_FIELDS, type RelayRow } from '../config/relay-fields.ts';
import { type DeclaredType, RELAY_TYPES } from '../config/relay-types.ts';
import type { RelayForm, RelayFormField } from '../operations/relays.ts';

/** The forms of all types of relay, from the one table of fields. */
export function relayForms(): RelayForm[] {
  return RELAY_TYPES.map((type) => ({
    type,
    ...RELAY_HELP[type],
    // The type is chosen before the form is shown.
    fields: RELAY_FIELDS.filter((row) => isFor(row, type) && !row.fileOnly && row.name !== 'type').map(
      (row) => fieldOf(row, type),
    ),
  }));
}

function fieldOf(row: RelayRow, type: DeclaredType): RelayFormField {
  const { name, label, group, kind, fallback, meaning, byType, requiredFor, usual } = row;
  const own = byType?.[type];
  const { form } = own?.kind ?? kind;
  return {
    name,
    label: own?.label ?? label,
    kind: row.secret ? 'secret' : form.kind,
    choices: form.choices,
    items: form.items,
    unit: kind.unit,
    required: fallback === undefined || (requiredFor?.includes(type) ?? false),
    meaning: own?.meaning ?? withoutNull(meaning),
    defaultValue: usual?.[type] ?? fallback ?? null,
    group: own?.group ?? group,
    binds: row.binds ?? false,
  };
}

/** In a form, the table's null is an empty field. */
function withoutNull(meaning: string): string {
  return meaning.replaceAll(
    /(^|[.;] )null means/g,
    (_, before: string) => `${before}${before.startsWith(';') ? 'empty' : 'Empty'} means`,
  );
}

const WEBHOOK_HELP =
  "To hear of bounces and complaints, set up its webhook afterwards: the URL is on the relay's page, the steps are in docs/provider-webhooks.md.";

/** Text for each type of relay beside its form; docs/relays.md and docs/providers.md say more. */
const RELAY_HELP: Readonly<Record<DeclaredType, Pick<RelayForm, 'title' | 'summary' | 'help'>>> = {
  smtp: {
    title: 'Smarthost (SMTP)',
    summary: 'Passes all mail to one mail server, which sends it on: your own, or a provider’s.',
    help: [
      'Host, port and credentials are the ones that a mail client would use for outgoing mail.',
      'Port 587 uses STARTTLS (TLS: required); port 465 uses TLS from the first byte (TLS: implicit).',
      'A password is sent only over TLS.',
      'Microsoft 365 and Google accept no passwords: open OAuth, and choose xoauth2 and the provider there.',
    ],
  },
  mx: {
    title: 'Direct delivery (MX)',
    summary: "Delivers to the recipients' own mail servers, as a mail server does.",
    help: [
      'Needs outgoing port 25, which many hosting providers block, and an address with a reverse name (PTR).',
      'server.hostname, or the HELO name, must be a full name that resolves to this address.',
      'An address that has never sent mail earns its reputation slowly: set a warm-up.',
    ],
  },
  ses: {
    title: 'Amazon SES',
    summary: 'Sends through Amazon Simple Email Service, API version 2.',
    help: [
      'In IAM, make a user who may do ses:SendEmail and ses:SendRawEmail, and ses:GetAccount for tests, and give it an access key.',
      "The sender's address or domain must be verified in the region.",
      'A new account is in the sandbox: it sends only to verified recipients.',
      'DKIM signatures are removed for SES: let it sign for the domain (Easy DKIM).',
      WEBHOOK_HELP,
    ],
  },
  mailgun: {
    title: 'Mailgun',
    summary: "Sends the message as it is, through Mailgun's API.",
    help: [
      'The API key is under API Security; a sending key of the domain is enough.',
      'Region eu is for domains created in the EU.',
      'The reverse-path is not passed on: bounces come back by webhook only.',
      WEBHOOK_HELP,
    ],
  },
  postmark: {
    title: 'Postmark',
    summary: "Sends through Postmark's API.",
    help: [
      'The secret is the server API token: Servers, your server, API Tokens.',
      'From must be a confirmed sender signature or on a verified domain.',
      'Bulk mail belongs in a message stream of its own: add a relay for it.',
      WEBHOOK_HELP,
    ],
  },
  sendgrid: {
    title: 'SendGrid',
    summary: "Sends through Twilio SendGrid's API.",
    help: [
      'The secret is an API key with the permission Mail Send: Settings, API Keys.',
      'From must be a verified sender or on an authenticated domain.',
      'An account in the European Union needs the endpoint https://api.eu.sendgrid.com.',
      WEBHOOK_HELP,
    ],
  },
  resend: {
    title: 'Resend',
    summary: "Sends through Resend's API.",
    help: [
      'The secret is an API key with sending access: API Keys.',
      'From must be on a domain that is verified under Domains.',
      WEBHOOK_HELP,
    ],
  },
  graph: {
    title: 'Microsoft 365 (Graph)',
    summary: 'Sends as mailboxes of a Microsoft 365 tenant, through Microsoft Graph.',
    help: [
      'In Microsoft Entra, register an application, give it the application permission Mail.Send with admin consent, and make a client secret.',
      'Without a mailbox, each message is sent as its From.',
      'Exchange Online processes four messages of a mailbox at once.',
    ],
  },
  webhook: {
    title: 'Webhook',
    summary: 'Posts each message, signed, to a URL of yours.',
    help: [
      'The secret signs each request: choose a long random text and check the signature, as docs/webhook.md shows.',
      'The relay connects only to public addresses, unless delivery.private_relays names it.',
    ],
  },
};
