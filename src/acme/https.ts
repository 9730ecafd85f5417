/** Requests to an authority: bounded, over TLS that is always verified. */
import type { IncomingMessage } from 'node:http';
import { Agent, request } from 'node:https';
import { rootCertificates } from 'node:tls';
import { type Clock, within } from '../lib/clock.ts';
import { retryAfterMs } from '../lib/decode.ts';
import { errorCode } from '../lib/error.ts';
import { AcmeError } from './problem.ts';

/** One request. */
export interface Asked {
  readonly url: string;
  /** A body of JSON (JOSE); null asks by GET, or HEAD. */
  readonly body: string | null;
  readonly method?: 'HEAD';
}

/** An answer. */
export interface Answered {
  readonly status: number;
  readonly type: string;
  readonly body: Buffer;
  readonly nonce: string | null;
  readonly location: string | null;
  /** The answer wants that we wait so long. */
  readonly retryAfterMs: number | null;
}

/** What carries requests to an authority. */
export interface Carrier {
  /** Rejects with {@link AcmeError} where there is no answer. */
  ask(asked: Asked): Promise<Answered>;
  /** Ends its connections. */
  close(): void;
}

/** How long an authority may take for an answer. */
const ANSWER_MS = 30_000;
const MAX_BYTES = 256 * 1024;
const MAX_URL = 2000;
const SECOND_MS = 1000;

/** Codes of errors that say that the authority's certificate is not trusted. */
const DISTRUST = /^(?:CERT_|ERR_TLS_CERT|UNABLE_TO_|SELF_SIGNED_|DEPTH_ZERO_|INVALID_CA)/;

/** Asks an authority. Its connections are kept for as long as an order takes. */
export class Connection implements Carrier {
  readonly #agent: Agent;
  readonly #clock: Clock;
  readonly #signal: AbortSignal;
  readonly #userAgent: string;

  /** `ca`: roots as PEM that are trusted besides the usual ones; null: none. */
  constructor(ca: string | null, userAgent: string, clock: Clock, signal: AbortSignal) {
    const trusted = ca === null ? {} : { ca: [...rootCertificates, ca] };
    // Set explicitly: the environment (NODE_TLS_REJECT_UNAUTHORIZED) can switch the default off.
    this.#agent = new Agent({ keepAlive: true, maxSockets: 2, rejectUnauthorized: true, ...trusted });
    this.#clock = clock;
    this.#signal = signal;
    this.#userAgent = userAgent;
  }

  async ask(asked: Asked): Promise<Answered> {
    const url = secureUrl(asked.url);
    if (url === null) throw new AcmeError('authority_failed', 'the authority names a URL that is not https');
    return await within(this.#clock, ANSWER_MS, this.#signal, async (signal) => {
      try {
        return await this.#exchange(url, asked, signal);
      } catch (error) {
        throw trouble(error, url.host, signal.aborted && !this.#signal.aborted);
      }
    });
  }

  close(): void {
    this.#agent.destroy();
  }

  #exchange(url: URL, { body, method }: Asked, signal: AbortSignal): Promise<Answered> {
    return new Promise((resolve, reject) => {
      const asking = request(url, {
        agent: this.#agent,
        method: method ?? (body === null ? 'GET' : 'POST'),
        headers: {
          'user-agent': this.#userAgent,
          'accept-language': 'en',
          ...(body === null
            ? {}
            : { 'content-type': 'application/jose+json', 'content-length': Buffer.byteLength(body) }),
        },
        signal,
      });
      asking.on('error', reject);
      asking.on('response', (response) => {
        readAll(response).then((bytes) => resolve(this.#answerOf(response, bytes)), reject);
      });
      asking.end(body ?? undefined);
    });
  }

  #answerOf({ statusCode = 0, headers }: IncomingMessage, body: Buffer): Answered {
    const nonce = headers['replay-nonce'];
    return {
      status: statusCode,
      type: headers['content-type'] ?? '',
      body,
      nonce: typeof nonce === 'string' ? nonce : null,
      location: headers.location ?? null,
      retryAfterMs: retryAfterMs(headers['retry-after'], this.#clock.wall()),
    };
  }
}

async function readAll(response: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let received = 0;
  for await (const chunk of response) {
    // No encoding is set: chunks are bytes.
    const bytes = chunk as Buffer;
    received += bytes.length;
    if (received > MAX_BYTES)
      throw new AcmeError('authority_failed', `the authority sends more than ${MAX_BYTES / 1024} KiB`);
    chunks.push(bytes);
  }
  return Buffer.concat(chunks);
}

function trouble(error: unknown, host: string, isLate: boolean): AcmeError {
  if (error instanceof AcmeError) return error;
  if (isLate)
    return new AcmeError('authority_slow', `${host} gave no answer within ${ANSWER_MS / SECOND_MS} seconds`);
  const code = errorCode(error) ?? '';
  const text = error instanceof Error && error.message !== '' ? error.message : code;
  return new AcmeError(DISTRUST.test(code) ? 'authority_not_trusted' : 'authority_away', `${host}: ${text}`);
}

function secureUrl(text: string): URL | null {
  if (text.length > MAX_URL || !URL.canParse(text)) return null;
  const url = new URL(text);
  return url.protocol === 'https:' && url.username === '' && url.password === '' ? url : null;
}
