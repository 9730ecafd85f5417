import type { Connection, Connections } from './connections.ts';
import { hostOf } from './dial.ts';
import { type Exchanged, exchange, type Passed } from './exchange.ts';
import { formsOf, plainText } from './judge.ts';
import type { ProviderRequest } from './provider.ts';
import type { ProviderTrace } from './trace.ts';
import { abortTrouble, Trouble } from './trouble.ts';

/** Makes a request over one of the relay's connections. Never rejects for network or peer errors. */
export type Call = (
  request: ProviderRequest,
  trace: ProviderTrace,
  signal: AbortSignal,
) => Promise<Exchanged>;

export interface CallParts {
  readonly connections: Connections;
  /** The relay's secrets, which no text may show. */
  readonly secret: () => string | readonly string[];
  /** Called when the server had closed a kept connection and the request was repeated. */
  readonly onStale?: () => void;
}

/** Makes a relay's calls. */
export function callsOver(parts: CallParts): Call {
  return async (request, trace, signal) => {
    try {
      const first = await callOnce(parts, request, false, trace, signal);
      if (!first.isStale || signal.aborted) return first.exchanged;
      // The server closed it while idle, as servers do, without receiving the whole request.
      parts.onStale?.();
      return (await callOnce(parts, request, true, trace, signal)).exchanged;
    } catch (error) {
      if (!(error instanceof Trouble)) throw error;
      return { kind: 'none', trouble: error, isBegun: false, isWhole: false };
    }
  };
}

async function callOnce(
  { connections, secret }: CallParts,
  request: ProviderRequest,
  fresh: boolean,
  trace: ProviderTrace,
  signal: AbortSignal,
): Promise<{ readonly exchanged: Exchanged; readonly isStale: boolean }> {
  const url = new URL(request.url);
  const connection = await connections.take(url, fresh, trace, signal);
  const passed: Passed = { startedAt: null, sentAt: null, answeredAt: null };
  const isReused = connection.requests > 0;
  trace.over(connection.facts, isReused);
  const { clock, timeouts } = connections.terms;
  const terms = { host: hostOf(url), clock, timeouts };
  const exchanged = await exchangeOver(connection, connections, () =>
    signal.aborted
      ? Promise.resolve({ kind: 'none', trouble: abortTrouble(), isBegun: false, isWhole: false } as const)
      : exchange(connection, request, terms, passed, signal),
  );
  tell(trace, `${request.method} ${url.pathname}`, exchanged, passed, formsOf(secret(), request.headers));
  const isLost = exchanged.kind === 'none' && exchanged.trouble.reply.cause === 'connection_lost';
  return { exchanged, isStale: isReused && isLost && !exchanged.isWhole };
}

async function exchangeOver(
  connection: Connection,
  connections: Connections,
  work: () => Promise<Exchanged>,
): Promise<Exchanged> {
  try {
    return await work();
  } finally {
    connections.giveBack(connection);
  }
}

/** Leaves out a URL's query: it may hold secrets. */
function tell(
  trace: ProviderTrace,
  asked: string,
  exchanged: Exchanged,
  { startedAt, sentAt, answeredAt }: Passed,
  secrets: readonly string[],
): void {
  if (startedAt !== null && sentAt !== null) trace.transferMs = Math.round(sentAt - startedAt);
  if (sentAt !== null && answeredAt !== null) trace.replyMs = Math.max(0, Math.round(answeredAt - sentAt));
  const said =
    exchanged.kind === 'answer'
      ? `${exchanged.answer.status} ${exchanged.phrase}`
      : `no answer: ${exchanged.trouble.reply.text}`;
  trace.happened(asked.slice(0, 256), plainText(said, secrets).slice(0, 256));
}
