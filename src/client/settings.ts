import { type Machine, thisMachine } from './machine.ts';
import type { WaybillOptions } from './options.ts';
import { checkMs } from './result.ts';

/** What a client was made with, checked and completed. */

/** The settings of a client. */
export interface Settings {
  /** Where the server answers, without `/api/v1` and without a slash at the end. */
  readonly url: string;
  readonly key: string;
  readonly fetch: typeof fetch;
  /** Milliseconds for a call; `null` when nothing was said, so that it depends on what is sent. */
  readonly timeoutMs: number | null;
  /** Milliseconds for a try; `null` likewise. */
  readonly tryTimeoutMs: number | null;
  readonly maxRetries: number;
  readonly machine: Machine;
}

const DEFAULT_MAX_RETRIES = 4;
/** What a header can carry as a bearer token. */
const TOKEN = /^[\x21-\x7e]+$/;

/** The settings that options ask for; throws `TypeError` for options that can never work. */
export function settingsOf(options: WaybillOptions): Settings {
  const { maxRetries, machine = thisMachine } = options;
  return {
    url: baseOf(given('url', options.url)),
    key: tokenOf(given('key', options.key)),
    // Called as a plain function: browsers refuse their fetch as somebody's method.
    fetch: options.fetch ?? ((input, init) => fetch(input, init)),
    timeoutMs: msOf('timeoutMs', options.timeoutMs),
    tryTimeoutMs: msOf('tryTimeoutMs', options.tryTimeoutMs),
    maxRetries: maxRetries ?? DEFAULT_MAX_RETRIES,
    machine,
  };
}

function given(name: string, value: string | null | undefined): string {
  if (typeof value === 'string') return value;
  throw new TypeError(
    value === undefined || value === null
      ? `${name} is ${value}: if it is to come from an environment variable, that variable is not set.`
      : `${name} must be a string.`,
  );
}

function tokenOf(key: string): string {
  if (TOKEN.test(key)) return key;
  throw new TypeError('key must be an API key, such as wb_live_…; it is not shown here.');
}

function msOf(name: string, value: number | null | undefined): number | null {
  if (value === null || value === undefined) return null;
  try {
    checkMs(name, value);
  } catch (fault) {
    throw new TypeError(String(fault), { cause: fault });
  }
  return value;
}

/** The address that all paths stand behind: without a slash at its end, and without `/api/v1`. Throws for what is none. */
export function baseOf(text: string): string {
  const url = parse(text);
  if (url === null || !/^https?:$/.test(url.protocol) || url.username !== '' || url.search !== '')
    throw new TypeError(
      'url must be an http or https address without user name and query, such as http://localhost:8025.',
    );
  // People paste the address of the API as often as that of the server.
  return `${url.origin}${url.pathname}`.replace(/\/+$/, '').replace(/\/api\/v1$/, '');
}

function parse(text: string): URL | null {
  try {
    return new URL(text);
  } catch {
    return null;
  }
}
