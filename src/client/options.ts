import type { CallerOptions, CallOptions } from './call.ts';
import { type Machine, thisMachine } from './machine.ts';

/** How a client is made, and what its calls may be told. */

/** The options of a client. */
export interface WaybillOptions {
  /** Where the server answers, such as `https://mail.example.net:8026`; a path in front of `/api/v1` may follow. */
  readonly url: string;
  /** The API key. */
  readonly key: string;
  /** What to use instead of the platform's `fetch`. */
  readonly fetch?: typeof fetch | undefined;
  /** Milliseconds for a whole call, with all its tries; 60,000 unless told. */
  readonly timeoutMs?: number | undefined;
  /** Milliseconds for one try, until all of the answer is there; 30,000 unless told. */
  readonly tryTimeoutMs?: number | undefined;
  /** How often a call is tried again at most; 4 unless told, 0 for never. */
  readonly maxRetries?: number | undefined;
  /** What to ask for time and chance; for tests. */
  readonly machine?: Machine | undefined;
}

/** What a call that sends may be told. */
export interface SendOptions extends CallOptions {
  /**
   * Names this very submission: within 24 hours, sending the same again under the same key gives the first answer
   * and sends nothing. Made by the client, anew for each call, unless given; give one that you keep when the
   * sending must survive the end of your own program.
   */
  readonly idempotencyKey?: string | undefined;
}

const DEFAULTS = { timeoutMs: 60_000, tryTimeoutMs: 30_000, maxRetries: 4 };
/** What a header can carry as a bearer token. */
const TOKEN = /^[\x21-\x7e]+$/;

/** The options with their defaults; throws `TypeError` for those that can never work. */
export function complete(options: WaybillOptions): CallerOptions {
  const { key, machine = thisMachine } = options;
  if (!TOKEN.test(key))
    throw new TypeError('key must be an API key, such as wb_live_…; it is not shown here');
  return {
    url: baseOf(options.url),
    key,
    // Called as a plain function: browsers refuse their fetch as somebody's method.
    fetch: options.fetch ?? ((input, init) => fetch(input, init)),
    timeoutMs: options.timeoutMs ?? DEFAULTS.timeoutMs,
    tryTimeoutMs: options.tryTimeoutMs ?? DEFAULTS.tryTimeoutMs,
    maxRetries: options.maxRetries ?? DEFAULTS.maxRetries,
    machine,
  };
}

function baseOf(text: string): string {
  const url = parse(text);
  if (url === null || !/^https?:$/.test(url.protocol) || url.username !== '' || url.search !== '')
    throw new TypeError(
      'url must be an http or https address without user name and query, such as http://localhost:8025',
    );
  return `${url.origin}${url.pathname}`.replace(/\/+$/, '');
}

function parse(text: string): URL | null {
  try {
    return new URL(text);
  } catch {
    return null;
  }
}
