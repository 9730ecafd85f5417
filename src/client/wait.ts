import type { Called } from './call.ts';
import type { Machine } from './machine.ts';
import type { CallOptions, WaitOptions } from './options.ts';
import { type Result, succeeded } from './result.ts';
import type { StatusRecord } from './types.ts';

/** One question to the server, which may take so many seconds to answer. */
type Ask = (seconds: number, options: CallOptions) => Promise<Called<StatusRecord>>;

const DEFAULT_WAIT_MS = 60_000;
/** Most proxies end a request that says nothing for a minute. */
const LONGEST_ASK_SECONDS = 30;
/** The server may answer at once, when too many wait or it is stopping: then it is asked again after this. */
const SHORTEST_ASK_MS = 1000;
/** Time for the last answer to arrive when the wait is over. */
const MARGIN_MS = 10_000;

/**
 * Asks again and again, until the message is final or the time is over; the last record in either case. Failures that
 * may be over soon end the wait only if there was never a record.
 */
export async function waitForEnd(
  ask: Ask,
  options: WaitOptions | null | undefined,
  machine: Machine,
): Promise<Result<StatusRecord>> {
  const signal = options?.signal;
  const timeoutMs = options?.timeoutMs ?? DEFAULT_WAIT_MS;
  const endsAt = machine.mono() + timeoutMs;
  let last: StatusRecord | null = null;
  for (;;) {
    const askedAt = machine.mono();
    const leftMs = endsAt - askedAt;
    const seconds = Math.min(LONGEST_ASK_SECONDS, Math.max(1, Math.ceil(leftMs / 1000)));
    const { result, passing } = await ask(seconds, { signal, timeoutMs: Math.max(0, leftMs) + MARGIN_MS });
    if (result.ok ? isFinal(result.value) : !passing) return result;
    if (result.ok) last = result.value;
    const now = machine.mono();
    if (now >= endsAt) return last === null ? result : succeeded(last);
    const restMs = Math.min(Math.max(SHORTEST_ASK_MS - (now - askedAt), pauseOf(result)), endsAt - now);
    if (restMs > 0) await machine.sleep(restMs, signal ?? NEVER);
  }
}

const NEVER = new AbortController().signal;

/** Milliseconds for which the server wants to be left alone. */
function pauseOf(result: Result<unknown>): number {
  if (result.ok || result.error.kind !== 'problem') return 0;
  return result.error.retryAfterMs ?? 0;
}

/** Whether nothing will happen to a message any more, unless it is retried by hand. */
function isFinal({ status }: Pick<StatusRecord, 'status'>): boolean {
  return status === 'delivered' || status === 'failed';
}
