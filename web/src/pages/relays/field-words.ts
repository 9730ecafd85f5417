import type { RelayFormField } from './definition.ts';

/** What fields of a relay's form are called and mean for one type, where the table of fields speaks of all. */

interface Words {
  readonly label?: string;
  readonly meaning: string;
}

const WORDS: Readonly<Record<string, Readonly<Record<string, Words>>>> = {
  smtp: {
    port: { meaning: 'Empty means 587, and 465 where TLS is `implicit`.' },
    tls: {
      meaning:
        '`required`, which is usual: STARTTLS or nothing. `opportunistic`: STARTTLS where it is offered. `implicit`: TLS from the first byte. `none`: in clear, and without a password.',
    },
    password: { meaning: 'Password for AUTH.' },
    tenant: { meaning: 'Microsoft: the id or a domain of the Microsoft Entra tenant.' },
    client_id: { meaning: 'The id of the application (Microsoft), or of the OAuth client (Google).' },
    secret: {
      label: 'Client secret',
      meaning: "The value of one of the application's or client's secrets, not its id.",
    },
    refresh_token: { meaning: 'Google: the token that the user gave by consenting.' },
    service_account: { meaning: 'Google: the JSON file of a key of the service account, pasted here.' },
  },
  mx: {
    port: { meaning: 'Empty means 25.' },
    tls: {
      meaning:
        '`opportunistic`, which is usual: STARTTLS where it is offered. `required`: STARTTLS or nothing.',
    },
  },
  ses: {
    region: { meaning: 'The region of AWS where the sender is verified, such as `eu-west-1`.' },
    secret: { label: 'Secret access key', meaning: 'The secret that belongs to the access key id.' },
  },
  mailgun: {
    region: { meaning: 'Where the domain is kept: `us`, which is usual, or `eu`.' },
    secret: { label: 'API key', meaning: 'A sending key of the domain, or a key of the account.' },
  },
  postmark: { secret: { label: 'Server token', meaning: 'The API token of the server that sends.' } },
  sendgrid: { secret: { label: 'API key', meaning: 'A key that may send mail.' } },
  resend: { secret: { label: 'API key', meaning: 'A key with sending access.' } },
  graph: {
    secret: { label: 'Client secret', meaning: "The value of one of the application's secrets, not its id." },
  },
  webhook: {
    secret: {
      label: 'Signing key',
      meaning: 'Each request is signed with it, so that the receiver knows it is yours.',
    },
  },
};

/** A field's label and meaning in the form of a type. An empty field is what the table calls null. */
export function wordsOf(
  type: string,
  field: Pick<RelayFormField, 'name' | 'label' | 'meaning'>,
): Required<Words> {
  const own = WORDS[type]?.[field.name];
  return {
    label: own?.label ?? field.label,
    meaning:
      own?.meaning ??
      field.meaning.replaceAll(
        /(^|[.;] )null means/g,
        (_, before: string) => `${before}${before.startsWith(';') ? 'empty' : 'Empty'} means`,
      ),
  };
}
