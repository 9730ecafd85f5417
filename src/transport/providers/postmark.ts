/** Postmark (postmarkapp.com/developer): `POST /email`, one message built from its parts. */
import { formatMailbox, type Mailbox } from '../../domain/mailbox.ts';
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

type PostmarkSettings = Extract<ProviderSettings, { readonly type: 'postmark' }>;

const MAX_RECIPIENTS = 50;
const MAX_ID = 200;
/** The text of a 200 when some recipients are inactive. */
const INACTIVE = /will not deliver to these inactive addresses?: *(.+?)(?:\. |$)/i;

const RULES: RebuildRules = {
  provider: 'Postmark',
  repeats: true,
  needsSubject: false,
  inlineWithoutId: false,
  typeParameters: true,
};

/** Text for the documents besides the table. */
export const POSTMARK_PROSE: readonly string[] = [
  'The message is rebuilt from its parts; sender and recipients must be those in its header, except for blind copies. The provider uses its own return path. If it does not know the From, the message waits and tries the next relay: other mail is not affected.',
  'The Message-ID is kept (`X-PM-KeepID`). The Date is the time at which Postmark accepted the message.',
  'A file is sent as an attachment, or inline if it has a Content-ID; inline without one cannot be expressed and is refused.',
  'If some recipients of a message are inactive, Postmark accepts it for the others and names the inactive ones: those fail.',
  'If `message_stream` names a stream that does not exist, the relay has failed; the table is for a relay without this setting.',
];

/**
 * Postmark answers 422 with a code of its own for every refusal. A missing stream is the relay's failure if its
 * settings name the stream; otherwise it may not affect other mail.
 */
function postmarkAnswers(namesStream: boolean): readonly AnswerRow[] {
  const meaning = namesStream ? 'relay_ill' : 'later';
  const streams = STREAM_CODES.map(
    ([code, note]): AnswerRow => ({ status: 422, code, meaning, enhanced: '4.3.5', note }),
  );
  return [...ANSWERS, ...streams];
}

const STREAM_CODES = [
  ['1226', 'There is no such message stream.'],
  ['1235', 'There is no such message stream.'],
  ['1236', 'The message stream is not for sending.'],
] as const;

// biome-ignore format: a table
const ANSWERS: readonly AnswerRow[] = [
  { status: 200, meaning: 'done', enhanced: '2.0.0', note: 'Accepted (`ErrorCode` 0).' },
  { status: '2xx', meaning: 'unknown', enhanced: '4.5.0', note: 'Not an answer of Postmark.' },
  { status: 401, meaning: 'relay_ill', enhanced: '4.7.8', note: 'The server token is wrong (10).' },
  { status: 403, meaning: 'relay_ill', enhanced: '4.7.1', note: 'A firewall blocked the way to the API.' },
  { status: 422, code: '10', meaning: 'relay_ill', enhanced: '4.7.8', note: 'The server token is wrong.' },
  { status: 422, code: '100', meaning: 'later', enhanced: '4.3.2', note: 'The API is being maintained.' },
  { status: 422, code: '300', meaning: 'never', enhanced: '5.6.0', note: 'An address or another field is malformed.' },
  { status: 422, code: '400', meaning: 'later', enhanced: '4.7.1', note: 'From has no sender signature.' },
  { status: 422, code: '401', meaning: 'later', enhanced: '4.7.1', note: 'The sender signature of From is not confirmed.' },
  { status: 422, code: '402', meaning: 'never', enhanced: '5.5.4', note: 'The JSON is invalid.' },
  { status: 422, code: '403', meaning: 'never', enhanced: '5.5.4', note: 'The JSON has fields that Postmark does not know.' },
  { status: 422, code: '405', meaning: 'relay_ill', enhanced: '4.7.1', note: 'Not allowed to send: out of credits.' },
  { status: 422, code: '406', meaning: 'never', enhanced: '5.2.1', note: 'All recipients are inactive: they bounced or complained before.' },
  { status: 422, code: '409', meaning: 'relay_ill', enhanced: '4.3.5', note: 'The request did not arrive as JSON: something in between changes it.' },
  { status: 422, code: '411', meaning: 'never', enhanced: '5.7.1', note: 'A file is of a type that Postmark does not send.' },
  { status: 422, code: '412', meaning: 'relay_ill', enhanced: '4.7.1', note: 'The account waits for approval.' },
  { status: 422, code: '413', meaning: 'relay_ill', enhanced: '4.7.1', note: 'The account may not send.' },
  { status: 422, code: '429', meaning: 'relay_ill', enhanced: '4.7.1', note: 'Too many requests.' },
];

/** The Postmark provider. */
export function postmarkProvider(settings: PostmarkSettings): Provider {
  const headers = { accept: 'application/json', 'x-postmark-server-token': settings.secret };
  return {
    maxMessageBytes: PROVIDER_MAX_BYTES.postmark,
    maxRecipients: MAX_RECIPIENTS,
    idempotency: null,
    answers: postmarkAnswers(settings.messageStream !== null),
    *prepare(message: ProviderMessage): Sliced<Prepared> {
      const rebuilt = yield* rebuild(message, RULES);
      if (!rebuilt.ok) return rebuilt;
      const body = yield* writeJson(bodyOf(rebuilt.message, settings.messageStream));
      const url = `${settings.endpoint}/email`;
      const sent = { ...headers, 'content-type': 'application/json' };
      return { ok: true, request: { method: 'POST', url, headers: sent, body } };
    },
    read,
    check: () => ({ method: 'GET', url: `${settings.endpoint}/server`, headers, body: [] }),
    checked,
  };
}

function bodyOf(message: Rebuilt, messageStream: string | null): Json {
  const { from, to, cc, bcc, replyTo, subject, text, html, files, messageId } = message;
  const list = (mailboxes: readonly Mailbox[]) =>
    mailboxes.length === 0 ? undefined : mailboxes.map((mailbox) => formatMailbox(mailbox)).join(', ');
  const keep = messageId === null ? [] : [['X-PM-KeepID', 'true'] as const];
  const fields = [...keep, ...handedOver(message, { messageId: true, date: false })];
  return jsonObject({
    From: formatMailbox(from),
    To: list(to),
    Cc: list(cc),
    Bcc: bcc.length === 0 ? undefined : bcc.join(', '),
    ReplyTo: list(replyTo),
    Subject: subject,
    TextBody: text ?? undefined,
    HtmlBody: html ?? undefined,
    Headers: fields.length === 0 ? undefined : fields.map(([Name, Value]) => jsonObject({ Name, Value })),
    Attachments: files.length === 0 ? undefined : files.map(fileOf),
    MessageStream: messageStream ?? undefined,
  });
}

function fileOf(file: FilePart): Json {
  return jsonObject({
    Name: file.filename,
    ContentType: typeWithParameters(file),
    ContentID: file.contentId === null ? undefined : `cid:${file.contentId}`,
    Content: new Base64(file.bytes),
  });
}

function read({ status, body }: HttpAnswer): AnswerFacts {
  const answer = decodeJson(body);
  const number = memberOf(answer, 'ErrorCode');
  const code = typeof number === 'number' ? String(number) : null;
  const messageId = textOf(answer, 'MessageID', MAX_ID);
  const text = textOf(answer, 'Message', body.length);
  if (status !== 200) return { code, text, messageId: null, understood: code !== null };
  const isTaken = code === '0' && messageId !== null;
  const refused = isTaken ? inactiveOf(text ?? '') : [];
  return {
    code: isTaken ? null : code,
    text,
    messageId: isTaken ? messageId : null,
    understood: isTaken,
    ...(refused.length > 0 ? { refused } : {}),
  };
}

/** The inactive addresses, which Postmark reports only in prose. */
function inactiveOf(text: string): string[] {
  const list = INACTIVE.exec(text)?.[1] ?? '';
  return list
    .split(',')
    .map((address) => address.trim().replace(/[.]$/, ''))
    .filter((address) => address.includes('@'));
}

function checked({ status, body }: HttpAnswer): CheckFinding | null {
  const answer = decodeJson(body);
  const name = textOf(answer, 'Name', MAX_ID);
  if (status !== 200 || name === null) return null;
  const sandbox = memberOf(answer, 'DeliveryType') === 'Sandbox' ? ', a sandbox, which delivers nothing' : '';
  return { good: true, text: `The token is that of the server "${name}"${sandbox}` };
}
