/** Amazon SES, API version 2: the message as it stands, in base64. */
import { createHash } from 'node:crypto';
import type { ProviderSettings } from '../../domain/relay.ts';
import type { Sliced } from '../../lib/slices.ts';
import { jsonOf, memberOf, textOf } from './json-answer.ts';
import type {
  AnswerFacts,
  AnswerRow,
  CheckFinding,
  HttpAnswer,
  Meaning,
  Prepared,
  Provider,
  ProviderMessage,
  ProviderRequest,
} from './provider.ts';
import { signV4 } from './sigv4.ts';
import { unfitForAscii } from './unfit.ts';

/** Settings of type `ses`. */
export type SesSettings = Extract<ProviderSettings, { readonly type: 'ses' }>;

/** SES's quota; one that has been lowered answers 413 or BadRequestException. */
const MAX_BYTES = 40_000_000;
const MAX_RECIPIENTS = 50;
const MAX_TEXT = 2000;
/** Bytes that become base64 at once: a multiple of three, so that the pieces can be joined. */
const PIECE_BYTES = 768 * 1024;

/** For the documents. */
export const SES_PROSE: readonly string[] = [
  'Needs an access key whose user may do `ses:SendEmail` and `ses:SendRawEmail`, and the region in which the sender’s identity is verified. `configuration_set` is named in every request.',
  'The reverse-path is given as `FromEmailAddress`, so that it must be of a verified identity. SES writes a return address of its own on the wire and sends bounces on to the reverse-path, or as the identity’s notifications say; the From header stays as it is.',
  'Recipients are those of the envelope, whatever the header says. Headers and addresses that are not ASCII are refused.',
  'A sender or, in the sandbox, a recipient that is not verified makes a message wait and try the next relay: it says nothing of the mail of others.',
];

/** What SES's answers mean. */
export const SES_ANSWERS: readonly AnswerRow[] = [
  { status: 200, meaning: 'done', enhanced: '2.0.0', note: 'Taken; `MessageId` names it' },
  coded(
    'NotVerified',
    'later',
    '4.7.1',
    'MessageRejected, for the sender (in the sandbox: a recipient) is not verified',
  ),
  coded('MessageRejected', 'never', '5.6.0', 'The content is refused'),
  coded('AccountSuspendedException', 'relay_ill', '4.7.0', 'The account may not send any more'),
  coded(
    'SendingPausedException',
    'relay_ill',
    '4.7.0',
    'Sending is paused for the account or the configuration set',
  ),
  coded(
    'MailFromDomainNotVerifiedException',
    'relay_ill',
    '4.3.5',
    'The MAIL FROM domain of the identity is not set up',
  ),
  coded('LimitExceededException', 'relay_ill', '4.7.1', 'A quota of the account is used up'),
  coded('ThrottlingException', 'relay_ill', '4.7.1', 'Sending rate, or the day’s quota, is used up'),
  coded('Throttling', 'relay_ill', '4.7.1', 'Sending rate, or the day’s quota, is used up'),
  coded(
    'TooManyRequestsException',
    'relay_ill',
    '4.7.1',
    'Too many requests, or the sending rate is used up',
  ),
  coded('NotFoundException', 'relay_ill', '4.3.5', 'The configuration set does not exist'),
  coded('UnrecognizedClientException', 'relay_ill', '4.7.8', 'The access key is not known'),
  coded('InvalidClientTokenId', 'relay_ill', '4.7.8', 'The access key is not known'),
  coded(
    'InvalidSignatureException',
    'relay_ill',
    '4.7.8',
    'The secret does not belong to the access key, or our clock is wrong',
  ),
  coded('SignatureDoesNotMatch', 'relay_ill', '4.7.8', 'The secret does not belong to the access key'),
  coded('ExpiredTokenException', 'relay_ill', '4.7.8', 'The credentials are of the past'),
  coded('RequestExpired', 'relay_ill', '4.7.8', 'Our clock is wrong'),
  coded('IncompleteSignature', 'relay_ill', '4.7.8', 'The access key is malformed'),
  coded(
    'MissingAuthenticationToken',
    'relay_ill',
    '4.7.8',
    'The endpoint is another, or the key is malformed',
  ),
  coded(
    'MissingAuthenticationTokenException',
    'relay_ill',
    '4.7.8',
    'The endpoint is another, or the key is malformed',
  ),
  coded('AccessDeniedException', 'relay_ill', '4.7.0', 'The key’s policy does not let it send'),
  coded('OptInRequired', 'relay_ill', '4.7.0', 'The account has no SES'),
  coded('RequestTimeout', 'later', '4.4.2', 'The request came too slowly'),
  coded('BadRequestException', 'never', '5.6.0', 'Something in the message or its addresses is not valid'),
  { status: 413, meaning: 'never', enhanced: '5.3.4', note: 'The message is too large' },
  { status: 500, meaning: 'later', enhanced: '4.3.0', note: 'SES has a fault' },
  { status: 503, meaning: 'relay_ill', enhanced: '4.3.2', note: 'SES is out of service' },
];

/** The provider of a relay of type `ses`. */
export function sesProvider(settings: SesSettings): Provider {
  const { endpoint } = settings;
  return {
    maxMessageBytes: MAX_BYTES,
    maxRecipients: MAX_RECIPIENTS,
    idempotency: null,
    answers: SES_ANSWERS,
    *prepare(message, { now }): Sliced<Prepared> {
      const reply = unfitForAscii(message);
      if (reply !== null) return { ok: false, reply };
      const url = `${endpoint}/v2/email/outbound-emails`;
      const body = yield* bodyOf(message, settings.configurationSet);
      return { ok: true, request: signed(settings, { method: 'POST', url, body }, now) };
    },
    read: readAnswer,
    check: ({ now }) =>
      signed(settings, { method: 'GET', url: `${endpoint}/v2/email/account`, body: [] }, now),
    checked,
  };
}

/** JSON around base64 that is never one string: the whole message would be in memory twice more. */
function* bodyOf(
  { envelope, content }: ProviderMessage,
  configurationSet: string | null,
): Sliced<Uint8Array[]> {
  const { reversePath, recipients } = envelope;
  const rest = JSON.stringify({
    FromEmailAddress: reversePath,
    // As Bcc: the header says who else it is for, and stays as it is.
    Destination: { BccAddresses: recipients.map(({ address }) => address) },
    ...(configurationSet === null ? {} : { ConfigurationSetName: configurationSet }),
  });
  const body: Uint8Array[] = [Buffer.from(`${rest.slice(0, -1)},"Content":{"Raw":{"Data":"`)];
  for (let at = 0; at < content.length; at += PIECE_BYTES) {
    if (at > 0) yield;
    body.push(Buffer.from(content.toString('base64', at, Math.min(content.length, at + PIECE_BYTES))));
  }
  body.push(Buffer.from('"}}}'));
  return body;
}

function signed(
  { region, accessKeyId, secret }: SesSettings,
  { method, url, body }: Pick<ProviderRequest, 'method' | 'url' | 'body'>,
  now: number,
): ProviderRequest {
  const headers = { 'content-type': 'application/json', 'x-amz-content-sha256': digestOf(body) };
  const credentials = { service: 'ses', region, accessKeyId, secretAccessKey: secret };
  const signature = signV4({ method, url: new URL(url), headers, body, now, ...credentials });
  return { method, url, headers: { ...headers, ...signature }, body };
}

function digestOf(body: readonly Uint8Array[]): string {
  const sum = createHash('sha256');
  for (const part of body) sum.update(part);
  return sum.digest('hex');
}

function readAnswer({ status, headers, body }: HttpAnswer): AnswerFacts {
  const value = jsonOf(body);
  const messageId = textOf(value, 'MessageId', MAX_TEXT);
  if (status < 300) return { code: null, text: null, messageId, understood: messageId !== null };
  const text = textOf(value, 'message', MAX_TEXT) ?? textOf(value, 'Message', MAX_TEXT);
  const type =
    headers['x-amzn-errortype'] ?? textOf(value, '__type', MAX_TEXT) ?? textOf(value, 'code', MAX_TEXT);
  const code = type?.replace(/^.*#/, '').replace(/:.*$/, '').trim() ?? null;
  const isUnverified = code === 'MessageRejected' && /\bnot verified\b/i.test(text ?? '');
  return { code: isUnverified ? 'NotVerified' : code, text, messageId: null, understood: value !== null };
}

function checked(answer: HttpAnswer): CheckFinding {
  const { code, text } = readAnswer(answer);
  const value = jsonOf(answer.body);
  if (answer.status === 200 && memberOf(value, 'SendingEnabled') === false)
    return { good: false, text: 'sending is paused for the account' };
  if (answer.status === 200 && memberOf(value, 'ProductionAccessEnabled') === false)
    return { good: true, text: 'the account is in the sandbox: only verified recipients are sent to' };
  if (answer.status === 200) return { good: true, text: 'the access key is good, and the account may send' };
  if (code === 'AccessDeniedException')
    return {
      good: true,
      text: 'the access key is known; it may not ask about the account, so that nothing more is known',
    };
  return {
    good: false,
    text: [code ?? `status ${answer.status}`, text].filter((word) => word !== null).join(': '),
  };
}

function coded(code: string, meaning: Meaning, enhanced: string, note: string): AnswerRow {
  return { status: '4xx', code, meaning, enhanced, note };
}
