/** Mailgun: the unchanged message, in a form. */
import { createHash } from 'node:crypto';
import { PROVIDER_MAX_BYTES, type ProviderSettings } from '../../domain/relay.ts';
import { decodeJson, textOf } from '../../lib/decode.ts';
import type {
  AnswerFacts,
  AnswerRow,
  CheckFinding,
  HttpAnswer,
  Provider,
  ProviderMessage,
} from './provider.ts';
import { unfitForAscii } from './provider.ts';

/** Settings of type `mailgun`. */
export type MailgunSettings = Extract<ProviderSettings, { readonly type: 'mailgun' }>;

const MAX_RECIPIENTS = 1000;
const MAX_TEXT = 2000;

/** For the documents. */
export const MAILGUN_PROSE: readonly string[] = [
  'Needs a sending domain and an API key; a key that may only send is enough. `region: eu` (or `endpoint`) is for domains in the EU.',
  'Mailgun uses a return address under the sending domain and keeps bounces to itself: the reverse-path is not passed on, because its API has no field for it. From stays as it is.',
  'Recipients are those of the envelope, whatever the header says. Headers and addresses that are not ASCII are refused. If the domain tracks clicks or opens, Mailgun changes the body, which breaks our signatures.',
  'Mailgun’s errors have no codes: those below are ours, derived from its text.',
];

/**
 * Texts that tell apart what Mailgun's statuses do not; the first match counts. A text may quote the client: so
 * patterns for a message's fault come before those for an account's trouble, which match no quotes and addresses.
 */
const CODES: readonly (readonly [RegExp, string])[] = [
  [/sandbox subdomains|free accounts|authorized recipients/i, 'test_account'],
  [/^domain \S+ is not allowed to send\b.*\blimit/i, 'limit_exceeded'],
  [/^domain \S+ is not allowed to send\b/i, 'domain_disabled'],
  [/message.*(?:too large|too big|exceeds)|size limit/i, 'too_large'],
  [/to parameter|not a valid address|invalid (?:recipient|address)/i, 'bad_recipient'],
  [/^need at least one of\b|parameter is (?:missing|not valid)/i, 'bad_message'],
];
const TROUBLES: readonly (readonly [RegExp, string])[] = [
  [/limit (?:was )?exceeded|probation|too many requests/i, 'limit_exceeded'],
  [/not allowed to send|unverified|not verified|domain.*(?:disabled|suspended)/i, 'domain_disabled'],
  [/(?:account|sending).*(?:disabled|suspended|closed|paused)|business verification/i, 'account_disabled'],
];
const QUOTED = /"[^"]*"|<[^>]*>|\S*@\S*/g;

/** The meanings of Mailgun's answers. */
// biome-ignore format: a table
export const MAILGUN_ANSWERS: readonly AnswerRow[] = [
  { status: 200, meaning: 'done', enhanced: '2.0.0', note: 'Accepted; `id` has its id' },
  { status: 413, meaning: 'never', enhanced: '5.3.4', note: 'The message is too large' },
  { status: 401, meaning: 'relay_ill', enhanced: '4.7.8', note: 'The key is wrong, or belongs to another region' },
  { status: 402, meaning: 'relay_ill', enhanced: '4.7.0', note: 'The account has an unpaid bill' },
  { status: 429, meaning: 'relay_ill', enhanced: '4.7.1', note: 'Too many requests, or a limit of the domain' },
  { status: '4xx', code: 'test_account', meaning: 'later', enhanced: '4.7.1', note: 'A test account: a recipient is not among those that it may send to' },
  { status: '4xx', code: 'limit_exceeded', meaning: 'relay_ill', enhanced: '4.7.1', note: 'A limit of the domain or account is used up' },
  { status: '4xx', code: 'domain_disabled', meaning: 'relay_ill', enhanced: '4.7.0', note: 'The sending domain is not verified, or disabled' },
  { status: '4xx', code: 'account_disabled', meaning: 'relay_ill', enhanced: '4.7.0', note: 'The account is disabled' },
  { status: '4xx', code: 'too_large', meaning: 'never', enhanced: '5.3.4', note: 'The message is too large' },
  { status: '4xx', code: 'bad_recipient', meaning: 'never', enhanced: '5.1.3', note: 'A recipient’s address is not valid' },
  { status: '4xx', code: 'bad_message', meaning: 'never', enhanced: '5.6.0', note: 'Something in the message is missing or not valid' },
  { status: 403, meaning: 'relay_ill', enhanced: '4.7.0', note: 'The key may not send for the domain' },
  { status: 404, meaning: 'relay_ill', enhanced: '4.3.5', note: 'The sending domain is not in the account, or is in another region' },
  { status: 400, meaning: 'later', enhanced: '4.6.0', note: 'Refused for an unknown reason' },
  { status: 500, meaning: 'later', enhanced: '4.3.0', note: 'Mailgun has a fault' },
  { status: 503, meaning: 'relay_ill', enhanced: '4.3.2', note: 'Mailgun is out of service' },
];

/** The provider of a relay of type `mailgun`. */
export function mailgunProvider({ endpoint, domain, secret }: MailgunSettings): Provider {
  const base = `${endpoint}/v3/${encodeURIComponent(domain)}`;
  const authorization = `Basic ${Buffer.from(`api:${secret}`).toString('base64')}`;
  return {
    maxMessageBytes: PROVIDER_MAX_BYTES.mailgun,
    maxRecipients: MAX_RECIPIENTS,
    idempotency: null,
    answers: MAILGUN_ANSWERS,
    // biome-ignore lint/correctness/useYield: providers that rebuild messages pause in here; this one has nothing to do that takes long.
    *prepare(message) {
      const reply = unfitForAscii(message);
      if (reply !== null) return { ok: false, reply };
      const boundary = boundaryOf(message);
      const headers = { authorization, 'content-type': `multipart/form-data; boundary=${boundary}` };
      const body = formOf(message, boundary);
      return { ok: true, request: { method: 'POST', url: `${base}/messages.mime`, headers, body } };
    },
    read: readAnswer,
    // A form without fields sends nothing, and works with a key that may only send.
    check: () => ({
      method: 'POST',
      url: `${base}/messages`,
      headers: { authorization, 'content-type': 'application/x-www-form-urlencoded' },
      body: [],
    }),
    checked,
  };
}

/** A form (RFC 7578): a field for each recipient, and the message. */
function formOf({ envelope, content }: ProviderMessage, boundary: string): Uint8Array[] {
  const fields = envelope.recipients.map(
    ({ address }) => `--${boundary}\r\nContent-Disposition: form-data; name="to"\r\n\r\n${address}\r\n`,
  );
  const head =
    `--${boundary}\r\nContent-Disposition: form-data; name="message"; filename="message.eml"\r\n` +
    'Content-Type: application/octet-stream\r\n\r\n';
  return [Buffer.from(fields.join('') + head), content, Buffer.from(`\r\n--${boundary}--\r\n`)];
}

/** Appears nowhere in the message, and is the same each time. */
function boundaryOf({ id, content }: ProviderMessage): string {
  for (let turn = 0; ; turn += 1) {
    const sum = createHash('sha256').update(`${id} ${turn}`).digest('hex');
    const boundary = `waybill-${sum.slice(0, 32)}`;
    if (!content.includes(boundary)) return boundary;
  }
}

function readAnswer({ status, body }: HttpAnswer): AnswerFacts {
  const value = decodeJson(body);
  const messageId = textOf(value, 'id', MAX_TEXT);
  if (status < 300) return { code: null, text: null, messageId, understood: messageId !== null };
  // Some refusals, such as that of a bad key, are plain text, not JSON.
  const text = textOf(value, 'message', MAX_TEXT) ?? body.trim().slice(0, MAX_TEXT);
  const own = text.replace(QUOTED, '…');
  const [, code = null] =
    CODES.find(([pattern]) => pattern.test(text)) ?? TROUBLES.find(([pattern]) => pattern.test(own)) ?? [];
  return { code, text: text === '' ? null : text, messageId: null, understood: value !== null };
}

/** An empty request is answered in JSON with what is missing: so the key is good. */
function checked(answer: HttpAnswer): CheckFinding | null {
  const { code } = readAnswer(answer);
  const isAsked =
    answer.status === 400 &&
    textOf(decodeJson(answer.body), 'message', MAX_TEXT) !== null &&
    (code === null || code === 'bad_recipient' || code === 'bad_message');
  return isAsked ? { good: true, text: 'the key may send for the domain' } : null;
}
