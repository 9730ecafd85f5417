/** Twilio SendGrid (API v3): `POST /v3/mail/send`, one personalization for all recipients. */

import { quote } from '../../domain/address-entry.ts';
import type { Mailbox } from '../../domain/mailbox.ts';
import { PROVIDER_MAX_BYTES, type ProviderSettings } from '../../domain/relay.ts';
import type { Sliced } from '../../lib/clock.ts';
import { decodeJson, memberOf, textOf } from '../../lib/decode.ts';
import type { FilePart } from '../../mail/message-parts.ts';
import { Base64, type Json, jsonObject, writeJson } from './json-body.ts';
import type {
  AnswerFacts,
  AnswerRow,
  CheckFinding,
  HttpAnswer,
  Prepared,
  Provider,
  ProviderMessage,
} from './provider.ts';
import { handedOver, type RebuildRules, type Rebuilt, rebuild } from './rebuild.ts';

/** To, Cc and Bcc together. */
const MAX_RECIPIENTS = 1000;
const MAX_ID = 200;
const MAX_FIELD = 100;
/** The scope that a key needs. */
const SCOPE = 'mail.send';

const RULES: RebuildRules = {
  provider: 'SendGrid',
  repeats: false,
  needsSubject: true,
  inlineWithoutId: true,
  typeParameters: false,
};

/** Text for the documents besides the table. */
export const SENDGRID_PROSE: readonly string[] = [
  'The message is rebuilt from its parts; sender and recipients must be those in its header, except for blind copies. The provider uses its own return path. If it does not know the From, the message waits and tries the next relay: other mail is not affected.',
  'Message-ID and Date are passed on as header fields.',
  'A subject is required. A file type with parameters cannot be expressed; only the charset of an ASCII file may be left out.',
  'A header field that appears more than once cannot be expressed.',
  'SendGrid’s errors have no codes: those below are the first word of the field that an error names.',
];

// biome-ignore format: a table
const ANSWERS: readonly AnswerRow[] = [
  { status: 202, meaning: 'done', enhanced: '2.0.0', note: 'Accepted; the id is in `X-Message-Id`.' },
  { status: 200, meaning: 'relay_ill', enhanced: '4.3.5', note: 'Valid, but not sent: the account is in sandbox mode.' },
  { status: '2xx', meaning: 'unknown', enhanced: '4.5.0', note: 'Not an answer of SendGrid.' },
  { status: 400, code: 'personalizations', meaning: 'never', enhanced: '5.1.3', note: 'A recipient’s address is malformed, or appears twice.' },
  { status: 400, code: 'from', meaning: 'never', enhanced: '5.1.7', note: 'From is malformed.' },
  { status: 400, code: 'reply_to', meaning: 'never', enhanced: '5.6.0', note: 'Reply-To is malformed.' },
  { status: 400, code: 'reply_to_list', meaning: 'never', enhanced: '5.6.0', note: 'Reply-To is malformed.' },
  { status: 400, code: 'subject', meaning: 'never', enhanced: '5.6.0', note: 'The subject is not accepted.' },
  { status: 400, code: 'content', meaning: 'never', enhanced: '5.6.0', note: 'A text is not accepted.' },
  { status: 400, code: 'attachments', meaning: 'never', enhanced: '5.6.0', note: 'A file is not accepted.' },
  { status: 400, code: 'headers', meaning: 'never', enhanced: '5.6.0', note: 'A header field is not accepted.' },
  { status: 401, meaning: 'relay_ill', enhanced: '4.7.8', note: 'The API key is wrong, or the credits are used up.' },
  { status: 403, code: 'from', meaning: 'later', enhanced: '4.7.1', note: 'From is not a verified sender.' },
  { status: 403, meaning: 'relay_ill', enhanced: '4.7.1', note: 'The API key may not send mail.' },
  { status: 413, meaning: 'never', enhanced: '5.3.4', note: 'Larger than 30 MB.' },
  { status: 415, meaning: 'relay_ill', enhanced: '4.3.5', note: 'The request did not arrive as JSON: something in between changes it.' },
  { status: 429, meaning: 'relay_ill', enhanced: '4.7.1', note: 'Too many requests.' },
];

/** The SendGrid provider. */
export function sendgridProvider({
  endpoint,
  secret,
}: Pick<ProviderSettings, 'endpoint' | 'secret'>): Provider {
  const headers = { authorization: `Bearer ${secret}` };
  return {
    maxMessageBytes: PROVIDER_MAX_BYTES.sendgrid,
    maxRecipients: MAX_RECIPIENTS,
    idempotency: null,
    answers: ANSWERS,
    *prepare(message: ProviderMessage): Sliced<Prepared> {
      const rebuilt = yield* rebuild(message, RULES);
      if (!rebuilt.ok) return rebuilt;
      const body = yield* writeJson(bodyOf(rebuilt.message));
      const sent = { ...headers, 'content-type': 'application/json' };
      return { ok: true, request: { method: 'POST', url: `${endpoint}/v3/mail/send`, headers: sent, body } };
    },
    read,
    check: () => ({ method: 'GET', url: `${endpoint}/v3/scopes`, headers, body: [] }),
    checked,
  };
}

function bodyOf(message: Rebuilt): Json {
  const { from, to, cc, bcc, replyTo, subject, text, html, files } = message;
  const list = (mailboxes: readonly Mailbox[]) =>
    mailboxes.length === 0 ? undefined : mailboxes.map(person);
  const content = [contentOf('text/plain', text), contentOf('text/html', html)].filter(
    (part) => part !== null,
  );
  const fields = handedOver(message, { messageId: true, date: true });
  const blind = bcc.map((email) => jsonObject({ email }));
  return jsonObject({
    personalizations: [
      jsonObject({ to: list(to), cc: list(cc), bcc: blind.length === 0 ? undefined : blind }),
    ],
    from: person(from),
    reply_to_list: list(replyTo),
    subject,
    content,
    headers: fields.length === 0 ? undefined : new Map(fields),
    attachments: files.length === 0 ? undefined : files.map(fileOf),
  });
}

/** An unquoted name with a comma or semicolon is read as two addresses. */
function person({ name, address }: Mailbox): Json {
  const shown = name === null || name === '' ? undefined : name;
  return jsonObject({
    email: address,
    name: shown !== undefined && /[,;]/.test(shown) ? quote(shown) : shown,
  });
}

function contentOf(type: string, value: string | null): Json {
  return value === null ? null : jsonObject({ type, value });
}

function fileOf({ filename, type, disposition, contentId, bytes }: FilePart): Json {
  return jsonObject({
    content: new Base64(bytes),
    type,
    filename,
    disposition,
    content_id: contentId ?? undefined,
  });
}

function read({ status, headers, body }: HttpAnswer): AnswerFacts {
  if (status === 202)
    return {
      code: null,
      text: null,
      messageId: textOf(headers, 'x-message-id', MAX_ID),
      understood: true,
    };
  const errors = memberOf(decodeJson(body), 'errors');
  const first: unknown = Array.isArray(errors) ? errors[0] : null;
  const message = textOf(first, 'message', body.length);
  const field = textOf(first, 'field', MAX_FIELD);
  // In `personalizations.0.to.0.email`, the first word tells what is wrong.
  const code = field?.split('.', 1)[0] ?? null;
  const text = message !== null && field !== code ? `${message} (${field})` : message;
  return { code, text, messageId: null, understood: message !== null };
}

function checked(answer: HttpAnswer): CheckFinding | null {
  const scopes = memberOf(decodeJson(answer.body), 'scopes');
  if (answer.status !== 200 || !Array.isArray(scopes)) return null;
  return scopes.includes(SCOPE)
    ? { good: true, text: 'The API key may send mail' }
    : { good: false, text: `The API key lacks the scope ${SCOPE}` };
}
