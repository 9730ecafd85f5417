import type { CustomFetch } from 'openid-client';
import type { Clock } from '../lib/clock.ts';
import { callsOver } from '../transport/providers/calls.ts';
import { Connections } from '../transport/providers/connections.ts';
import { systemResolve } from '../transport/providers/dial.ts';
import { shortTimeouts } from '../transport/providers/limits.ts';
import { ProviderTrace } from '../transport/providers/trace.ts';

/** How the library reaches a provider: with the time-outs and limits of all our requests, and over few connections. */

const SECOND = 1000;
/** Somebody waits before a page. */
const TIMEOUTS = shortTimeouts(5 * SECOND, 10 * SECOND);
/** Further requests wait for one of them. */
const MAX_CONNECTIONS = 4;
/** Statuses whose answers have no body. */
const BODILESS = [204, 205, 304];

/** What it needs. */
export interface ProviderFetchParts {
  readonly clock: Clock;
  /** Authorities to trust, as PEM; null: those that Node.js trusts. */
  readonly ca: string | null;
  readonly allowHttp: boolean;
  /** No text may show them. */
  readonly secrets: readonly string[];
}

/** No answer came. The message says why, for operators. */
export class NoAnswer extends Error {
  /** Such as `connect_refused`. */
  readonly code: string;
  constructor(code: string, message: string) {
    super(message);
    this.name = 'NoAnswer';
    this.code = code;
  }
}

/** Makes what the library fetches with; it rejects with {@link NoAnswer}. Redirects are answers like any other. */
export function providerFetch({ clock, ca, allowHttp, secrets }: ProviderFetchParts): CustomFetch {
  // The provider is the operator's choice, and often inside the operator's own network.
  const terms = { allowPrivate: true, resolve: systemResolve, clock, timeouts: TIMEOUTS, ...(ca && { ca }) };
  const connections = new Connections(MAX_CONNECTIONS, terms);
  const call = callsOver({ connections, secret: () => secrets });
  return async (url, { method, headers, body, signal }) => {
    if (method !== 'GET' && method !== 'POST') throw new NoAnswer('bad_method', `${method} is not used here`);
    if (!allowHttp && !url.startsWith('https:')) throw new NoAnswer('plain_http', `${url} is not encrypted`);
    const bytes = method === 'GET' ? [] : [new Uint8Array(await new Response(body ?? null).arrayBuffer())];
    const trace = new ProviderTrace(new URL(url).hostname, clock);
    const request = { method, url, headers, body: bytes } as const;
    const exchanged = await call(request, trace, signal ?? new AbortController().signal);
    if (exchanged.kind === 'none') {
      const { cause, text } = exchanged.trouble.reply;
      throw new NoAnswer(cause ?? 'no_answer', text);
    }
    const { answer } = exchanged;
    const text = BODILESS.includes(answer.status) ? null : answer.body;
    return new Response(text, { status: answer.status, headers: answer.headers });
  };
}
