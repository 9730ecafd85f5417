import { createHash, createHmac } from 'node:crypto';
import type { Envelope } from '../../domain/message.ts';
import { PROVIDER_MAX_BYTES, type ProviderSettings } from '../../domain/relay.ts';
import { SLICE_BYTES, type Sliced } from '../../lib/clock.ts';
import { decodeJson, textOf } from '../../lib/decode.ts';
import type {
  AnswerFacts,
  AnswerRow,
  HttpAnswer,
  PrepareContext,
  Prepared,
  Provider,
  ProviderMessage,
  ProviderRequest,
} from './provider.ts';

type WebhookSettings = Pick<ProviderSettings, 'endpoint' | 'secret'>;

const MAX_RECIPIENTS = 1000;
/** Bytes encoded at once: a multiple of three, so that no padding comes between the pieces. */
const BLOCK_BYTES = Math.floor(SLICE_BYTES / 3) * 3;
/** A secret of this form is the base64 of the key's bytes; any other text is the key itself. */
const ENCODED_SECRET = /^whsec_((?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2,3}={0,2})?)$/;
/** Hex digits that distinguish the parts of a message sent in different attempts. */
const PART_DIGITS = 16;
/** Most characters of an answer to keep: of its id, and of its text. */
const MAX_ID = 255;
const MAX_TEXT = 1000;

/** The meanings of a receiver's answers. */
// biome-ignore format: a table
const ANSWERS: readonly AnswerRow[] = [
  { status: '2xx', meaning: 'done', enhanced: '2.0.0', note: 'The receiver accepted the message. A body is not needed; `{"id": "…"}` in JSON is kept as its id.' },
  { status: '3xx', meaning: 'relay_ill', enhanced: '4.3.5', note: 'A redirect, which is never followed: correct `url`.' },
  { status: 400, meaning: 'never', enhanced: '5.6.0', note: 'The receiver does not want this message, and says so in JSON or plain text; otherwise the message waits.' },
  { status: 401, meaning: 'relay_ill', enhanced: '4.7.8', note: 'The signature was refused: compare the secrets.' },
  { status: 403, meaning: 'relay_ill', enhanced: '4.7.0', note: 'Waybill may not post there.' },
  { status: 404, meaning: 'relay_ill', enhanced: '4.3.5', note: 'Nothing receives there: correct the address.' },
  { status: 405, meaning: 'relay_ill', enhanced: '4.3.5', note: 'The address does not accept POST.' },
  { status: 408, meaning: 'later', enhanced: '4.4.2', note: 'The request did not arrive in time.' },
  { status: 409, meaning: 'later', enhanced: '4.3.0', note: 'The receiver is already processing this message.' },
  { status: 410, meaning: 'relay_ill', enhanced: '4.3.5', note: 'The receiver wants no more messages.' },
  { status: 413, meaning: 'never', enhanced: '5.3.4', note: 'Larger than the receiver accepts.' },
  { status: 422, meaning: 'never', enhanced: '5.6.0', note: 'The receiver does not want this message. If an HTML page says so, it is from a proxy, and the message waits.' },
  { status: 425, meaning: 'later', enhanced: '4.3.0', note: 'The receiver asks for a repeat.' },
  { status: 429, meaning: 'relay_ill', enhanced: '4.7.28', note: 'Too many requests; `Retry-After` is respected.' },
  { status: '4xx', meaning: 'relay_ill', enhanced: '4.3.5', note: 'The address does not accept these requests.' },
  { status: 502, meaning: 'unknown', enhanced: '4.4.2', note: 'A gateway had no answer from the receiver, which may have the message all the same.' },
  { status: 503, meaning: 'relay_ill', enhanced: '4.3.2', note: 'The receiver is overloaded or under maintenance; `Retry-After` is respected.' },
  { status: 504, meaning: 'unknown', enhanced: '4.4.2', note: 'A gateway had no answer from the receiver, which may have the message all the same.' },
  { status: '5xx', meaning: 'later', enhanced: '4.3.0', note: 'A problem at the receiver.' },
];

/**
 * A POST of the whole message to the operator's own program, signed by Standard Webhooks: `webhook-signature` is an
 * HMAC-SHA256 over id, timestamp and body. A repeat has the same `webhook-id`. `docs/webhook.md` is for the receiver.
 */
export function webhookProvider({ endpoint, secret }: WebhookSettings): Provider {
  const key = webhookKey(secret);
  return {
    maxMessageBytes: PROVIDER_MAX_BYTES.webhook,
    maxRecipients: MAX_RECIPIENTS,
    idempotency: 'webhook-id',
    answers: ANSWERS,
    expressesNullReversePath: true,
    prepare: (message, context) => prepare(message, endpoint, key, context),
    read: readAnswer,
    check: ({ now }) => {
      const body = Buffer.from(
        JSON.stringify({ type: 'waybill.test', timestamp: new Date(now).toISOString(), data: {} }),
      );
      const signing = new Signing(`test_${now}`, now, key);
      signing.add(body);
      return signing.request(endpoint);
    },
  };
}

/** The key bytes of a secret: `whsec_` and base64, or any other text as UTF-8. */
export function webhookKey(secret: string): Buffer {
  const encoded = ENCODED_SECRET.exec(secret)?.[1];
  return encoded === undefined || encoded === '' ? Buffer.from(secret) : Buffer.from(encoded, 'base64');
}

/** A body that is signed while it is written. */
class Signing {
  readonly #id: string;
  readonly #seconds: number;
  readonly #hmac;
  readonly #body: Buffer[] = [];

  constructor(id: string, now: number, key: Buffer) {
    this.#id = id;
    this.#seconds = Math.floor(now / 1000);
    this.#hmac = createHmac('sha256', key).update(`${id}.${this.#seconds}.`);
  }

  add(bytes: Buffer): void {
    this.#hmac.update(bytes);
    this.#body.push(bytes);
  }

  request(url: string): ProviderRequest {
    const headers = {
      'content-type': 'application/json',
      'webhook-id': this.#id,
      'webhook-timestamp': String(this.#seconds),
      'webhook-signature': `v1,${this.#hmac.digest('base64')}`,
    };
    return { method: 'POST', url, headers, body: this.#body };
  }
}

function* prepare(
  { id, envelope, content }: ProviderMessage,
  url: string,
  key: Buffer,
  { now }: PrepareContext,
): Sliced<Prepared> {
  const signing = new Signing(`${id}_${partOf(envelope)}`, now, key);
  const to = envelope.recipients.map(({ address }) => address);
  const frame = JSON.stringify({
    type: 'message.deliver',
    timestamp: new Date(now).toISOString(),
    data: { id, envelope: { from: envelope.reversePath, to }, sizeBytes: content.length, raw: '' },
  });
  // `raw` is the last member, and base64 needs no escapes: it precedes the end of its string and the objects.
  const close = '"}}';
  signing.add(Buffer.from(frame.slice(0, -close.length)));
  for (let start = 0; start < content.length; start += BLOCK_BYTES) {
    if (start > 0) yield;
    signing.add(Buffer.from(content.toString('base64', start, start + BLOCK_BYTES), 'latin1'));
  }
  signing.add(Buffer.from(close));
  return { ok: true, request: signing.request(url) };
}

/** The same for the same recipients, in any order: a repeat for only some of them is another delivery. */
function partOf({ recipients }: Envelope): string {
  const addresses = recipients.map(({ address }) => address).sort();
  return createHash('sha256').update(addresses.join('\n')).digest('hex').slice(0, PART_DIGITS);
}

function readAnswer({ status, headers, body }: HttpAnswer): AnswerFacts {
  const answer = decodeJson(body);
  const messageId = status < 300 ? textOf(answer, 'id', MAX_ID) : null;
  // Whatever the body of a 2xx says: the receiver has the message.
  if (status < 300) return { code: null, text: null, messageId, understood: true };
  const told = ['detail', 'message', 'error'].map((name) => textOf(answer, name, MAX_TEXT));
  const isPlain = headers['content-type']?.startsWith('text/plain') === true;
  // Secrets are removed before cutting: half a secret would not be found.
  const text = told.find((one) => one !== null) ?? (isPlain ? body : null);
  // A server or proxy before the receiver answers with a page, or with an empty 400.
  const isTheirs = body.trim() === '' ? status !== 400 : isPlain || answer !== null;
  return { code: null, text, messageId, understood: isTheirs };
}
