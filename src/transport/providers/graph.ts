import { localReply } from '../../domain/outcome.ts';
import { microsoftTokenUrl, type ProviderSettings } from '../../domain/relay.ts';
import { SLICE_BYTES, type Sliced } from '../../lib/clock.ts';
import { decodeJson } from '../../lib/decode.ts';
import { tokenSource } from './grants.ts';
import { graphAnswers } from './graph-answers.ts';
import { graphSender } from './graph-envelope.ts';
import { memberOf, textOf } from './json-answer.ts';
import type {
  AnswerFacts,
  CheckFinding,
  HttpAnswer,
  PrepareContext,
  Prepared,
  Provider,
  ProviderMessage,
  ProviderRequest,
  TokenSource,
} from './provider.ts';
import { unfitForAscii } from './unfit.ts';

/** Settings of a relay by Microsoft Graph. */
type GraphSettings = Extract<ProviderSettings, { readonly type: 'graph' }>;

/** Graph takes requests of 4 MB, and base64 makes four bytes of three. */
const MAX_MESSAGE_BYTES = (4_000_000 / 4) * 3;
/** What Exchange Online takes in a message unless its administrator says otherwise. */
const MAX_RECIPIENTS = 500;
/** Bytes encoded at once: a multiple of three, so that no padding comes between the pieces. */
const BLOCK_BYTES = Math.floor(SLICE_BYTES / 3) * 3;
/** No base64: Graph says so once token, permission and mailbox have been found good. Nothing is ever sent. */
const NO_MESSAGE = '!';
const NO_MESSAGE_CODE = 'ErrorMimeContentInvalidBase64String';
/** Characters of an error's code, and of its text. */
const MAX_CODE = 100;
const MAX_TEXT = 2000;
/** The clouds that have a Graph of their own. What stands elsewhere is asked for the token of the first. */
const GRAPHS = [
  'https://graph.microsoft.com',
  'https://graph.microsoft.us',
  'https://dod-graph.microsoft.us',
  'https://microsoftgraph.chinacloudapi.cn',
] as const;

/**
 * Microsoft Graph: `sendMail` with the whole message as MIME, by an application's own permission (`Mail.Send`). Sender
 * and recipients are those of the header (`graph-envelope.ts`).
 */
export function graphProvider(settings: GraphSettings): Provider {
  const { mailbox } = settings;
  return {
    maxMessageBytes: MAX_MESSAGE_BYTES,
    maxRecipients: MAX_RECIPIENTS,
    idempotency: null,
    answers: graphAnswers(mailbox === null),
    tokens: tokensOf(settings),
    prepare: (message, context) => prepare(message, settings, context),
    read: readAnswer,
    check: ({ token }) =>
      mailbox === null ? null : sendMail(settings, mailbox, token, [Buffer.from(NO_MESSAGE)]),
    checked: (answer) => checked(answer, settings),
  };
}

function* prepare(
  message: ProviderMessage,
  settings: GraphSettings,
  { token }: PrepareContext,
): Sliced<Prepared> {
  const { envelope, content } = message;
  // Nothing says how MIME with bare UTF-8 in its header is read, and a name must not be garbled.
  const unfit = unfitForAscii(message);
  if (unfit !== null) return { ok: false, reply: unfit };
  const sender = graphSender(envelope, content);
  if (!sender.ok) return sender;
  const bytes = sender.bcc === '' ? content : Buffer.concat([Buffer.from(sender.bcc), content]);
  if (bytes.length > MAX_MESSAGE_BYTES) {
    const text = `With its blind copies the message has ${bytes.length} bytes; Microsoft Graph takes ${MAX_MESSAGE_BYTES}`;
    return { ok: false, reply: localReply('message_too_large', '5.3.4', text) };
  }
  const body: Buffer[] = [];
  for (let start = 0; start < bytes.length; start += BLOCK_BYTES) {
    if (start > 0) yield;
    body.push(Buffer.from(bytes.toString('base64', start, start + BLOCK_BYTES), 'latin1'));
  }
  return { ok: true, request: sendMail(settings, settings.mailbox ?? sender.from, token, body) };
}

function sendMail(
  { endpoint }: GraphSettings,
  mailbox: string,
  token: string,
  body: readonly Buffer[],
): ProviderRequest {
  return {
    method: 'POST',
    url: `${endpoint}/users/${encodeURIComponent(mailbox)}/sendMail`,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'text/plain' },
    body,
  };
}

function readAnswer({ status, body }: HttpAnswer): AnswerFacts {
  // 202 has no body, and no id.
  if (status === 202) return { code: null, text: null, messageId: null, understood: true };
  const error = memberOf(decodeJson(body), 'error');
  const code = textOf(error, 'code', MAX_CODE);
  return { code, text: textOf(error, 'message', MAX_TEXT), messageId: null, understood: code !== null };
}

function checked(answer: HttpAnswer, { mailbox }: GraphSettings): CheckFinding | null {
  const { code } = readAnswer(answer);
  if (answer.status === 400 && code === NO_MESSAGE_CODE)
    return { good: true, text: `The application may send for ${mailbox}` };
  return null;
}

/** Client credentials of an application at the Microsoft identity platform. */
function tokensOf({ authority, tenant, clientId, secret, endpoint }: GraphSettings): TokenSource {
  const origin = URL.parse(endpoint)?.origin;
  const graph = GRAPHS.find((known) => known === origin) ?? GRAPHS[0];
  const url = microsoftTokenUrl(authority, tenant);
  return tokenSource(
    { kind: 'client_credentials', clientId, secret },
    { url, setting: 'authority', scope: `${graph}/.default` },
  );
}
