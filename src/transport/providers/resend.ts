/** Resend (resend.com/docs): `POST /emails`, one message built from its parts, with an idempotency key. */
import { createHash } from 'node:crypto';
import { formatMailbox, type Mailbox } from '../../domain/mailbox.ts';
import type { Envelope } from '../../domain/message.ts';
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
import { handedOver, type RebuildRules, type Rebuilt, rebuild, typeWithParameters } from './rebuild.ts';

const MAX_RECIPIENTS = 50;
const MAX_ID = 200;
/** The beginnings of `validation_error` texts that do not concern the message; the rest of a text may quote it. */
const BAD_KEY = /^(?:the )?api key\b/i;

const RULES: RebuildRules = {
  provider: 'Resend',
  repeats: false,
  needsSubject: true,
  inlineWithoutId: false,
  typeParameters: true,
};

/** Text for the documents besides the table. */
export const RESEND_PROSE: readonly string[] = [
  'The message is rebuilt from its parts; sender and recipients must be those in its header, except for blind copies. The provider uses its own return path. If it does not know the From, the message waits and tries the next relay: other mail is not affected.',
  'A repeat of a request, with the same message and recipients, carries the same `Idempotency-Key`: for 24 hours Resend does not send it twice. That applies to a manual retry too: if the recipients are the same, and Resend accepted the message before (for example when it bounced later), the earlier answer comes back and nothing is sent. Submit the message again instead.',
  'The Message-ID is passed on; Resend may replace it by its own. The Date is the time at which Resend accepted the message.',
  'A subject is required. A file is sent as an attachment, or inline if it has a Content-ID; inline without one cannot be expressed and is refused.',
  'A header field that appears more than once cannot be expressed.',
];

/** Resend gives every error a name. */
// biome-ignore format: a table
const ANSWERS: readonly AnswerRow[] = [
  { status: 200, meaning: 'done', enhanced: '2.0.0', note: 'Accepted; the id is in the answer.' },
  { status: '2xx', meaning: 'unknown', enhanced: '4.5.0', note: 'Not an answer of Resend.' },
  { status: 400, code: 'validation_error', meaning: 'never', enhanced: '5.6.0', note: 'An address or another field is malformed.' },
  { status: 400, code: 'invalid_idempotency_key', meaning: 'later', enhanced: '4.3.5', note: 'The idempotency key is malformed: something in between changes it.' },
  { status: 401, code: 'missing_api_key', meaning: 'relay_ill', enhanced: '4.7.8', note: 'There is no API key.' },
  { status: 401, code: 'restricted_api_key', meaning: 'relay_ill', enhanced: '4.7.1', note: 'The API key may not do this.' },
  { status: '4xx', code: 'invalid_api_key', meaning: 'relay_ill', enhanced: '4.7.8', note: 'The API key is wrong. A `validation_error` whose text begins like this counts as well.' },
  { status: 403, code: 'validation_error', meaning: 'later', enhanced: '4.7.1', note: 'The domain of From is not verified.' },
  { status: 409, code: 'invalid_idempotent_request', meaning: 'unknown', enhanced: '4.5.0', note: 'A request with this key was accepted before, with another body.' },
  { status: 409, code: 'concurrent_idempotent_requests', meaning: 'unknown', enhanced: '4.4.2', note: 'A request with this key is still in progress.' },
  { status: 413, meaning: 'never', enhanced: '5.3.4', note: 'Larger than 40 MB.' },
  { status: 422, code: 'invalid_access', meaning: 'later', enhanced: '4.7.1', note: 'The API key may not send from this domain.' },
  { status: 422, code: 'invalid_region', meaning: 'relay_ill', enhanced: '4.3.5', note: 'The region is not valid.' },
  { status: 422, code: 'invalid_attachment', meaning: 'never', enhanced: '5.6.0', note: 'A file is malformed, or of a type that Resend does not send.' },
  { status: 422, code: 'invalid_from_address', meaning: 'never', enhanced: '5.1.7', note: 'From is malformed.' },
  { status: 422, code: 'invalid_parameter', meaning: 'never', enhanced: '5.6.0', note: 'A field is malformed.' },
  { status: 422, code: 'missing_required_field', meaning: 'never', enhanced: '5.6.0', note: 'A field is missing.' },
  { status: 429, code: 'rate_limit_exceeded', meaning: 'relay_ill', enhanced: '4.7.1', note: 'Too many requests.' },
  { status: 429, code: 'daily_quota_exceeded', meaning: 'relay_ill', enhanced: '4.7.1', note: 'The quota of the day is used up.' },
  { status: 429, code: 'monthly_quota_exceeded', meaning: 'relay_ill', enhanced: '4.7.1', note: 'The quota of the month is used up.' },
  { status: 451, code: 'security_error', meaning: 'never', enhanced: '5.7.1', note: 'Resend considers the message harmful.' },
  { status: 500, code: 'application_error', meaning: 'later', enhanced: '4.3.0', note: 'A problem at Resend.' },
  { status: 500, code: 'internal_server_error', meaning: 'later', enhanced: '4.3.0', note: 'A problem at Resend.' },
];

/** The Resend provider. */
export function resendProvider({
  endpoint,
  secret,
}: Pick<ProviderSettings, 'endpoint' | 'secret'>): Provider {
  const headers = { authorization: `Bearer ${secret}` };
  return {
    maxMessageBytes: PROVIDER_MAX_BYTES.resend,
    maxRecipients: MAX_RECIPIENTS,
    idempotency: 'Idempotency-Key',
    answers: ANSWERS,
    *prepare(message: ProviderMessage): Sliced<Prepared> {
      const rebuilt = yield* rebuild(message, RULES);
      if (!rebuilt.ok) return rebuilt;
      const body = yield* writeJson(bodyOf(rebuilt.message));
      const sent = {
        ...headers,
        'content-type': 'application/json',
        'idempotency-key': idempotencyKey(message.id, message.envelope),
      };
      return { ok: true, request: { method: 'POST', url: `${endpoint}/emails`, headers: sent, body } };
    },
    read,
    check: () => ({ method: 'GET', url: `${endpoint}/domains`, headers, body: [] }),
    checked,
  };
}

/** The same for every attempt at the same message and recipients, in any order. */
function idempotencyKey(id: string, { recipients }: Envelope): string {
  const hash = createHash('sha256').update(id);
  for (const address of recipients.map(({ address }) => address).toSorted()) hash.update(`\n${address}`);
  return `waybill-${hash.digest('hex')}`;
}

function bodyOf(message: Rebuilt): Json {
  const { from, to, cc, bcc, replyTo, subject, text, html, files } = message;
  const list = (mailboxes: readonly Mailbox[]) =>
    mailboxes.length === 0 ? undefined : mailboxes.map((mailbox) => formatMailbox(mailbox));
  const fields = handedOver(message, { messageId: true, date: false });
  return jsonObject({
    from: formatMailbox(from),
    to: list(to),
    cc: list(cc),
    bcc: bcc.length === 0 ? undefined : bcc,
    reply_to: list(replyTo),
    subject,
    // Otherwise Resend would derive plain text from the HTML.
    text: text ?? '',
    html: html ?? undefined,
    headers: fields.length === 0 ? undefined : new Map(fields),
    attachments: files.length === 0 ? undefined : files.map(fileOf),
  });
}

function fileOf(file: FilePart): Json {
  return jsonObject({
    filename: file.filename,
    content: new Base64(file.bytes),
    content_type: typeWithParameters(file),
    content_id: file.contentId ?? undefined,
  });
}

function read({ status, body }: HttpAnswer): AnswerFacts {
  const answer = decodeJson(body);
  if (status === 200) {
    const messageId = textOf(answer, 'id', MAX_ID);
    return { code: null, text: null, messageId, understood: messageId !== null };
  }
  const name = textOf(answer, 'name', MAX_ID);
  const text = textOf(answer, 'message', body.length);
  const code = name === 'validation_error' && BAD_KEY.test(text ?? '') ? 'invalid_api_key' : name;
  return { code, text, messageId: null, understood: code !== null };
}

/** A key that may only send may not list domains; that refusal identifies it. */
function checked(answer: HttpAnswer): CheckFinding | null {
  const { code } = read(answer);
  if (answer.status === 401 && code === 'restricted_api_key')
    return { good: true, text: 'The API key may only send mail' };
  if (answer.status === 200 && Array.isArray(memberOf(decodeJson(answer.body), 'data')))
    return { good: true, text: 'The API key has full access' };
  return null;
}
