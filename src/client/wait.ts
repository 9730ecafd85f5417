import type { CallOptions } from './call.ts';
import type { Machine } from './machine.ts';
import type { Result } from './result.ts';
import type { StatusRecord } from './types.ts';

/** What waiting for a message's end may be told. */
export interface WaitOptions extends CallOptions {
  /** Milliseconds to wait for the end; 60,000 unless told. */
  readonly timeoutMs?: number | undefined;
}

/** One question to the server, which may take so many seconds to answer. */
type Ask = (seconds: number, options: CallOptions) => Promise<Result<StatusRecord>>;

const DEFAULT_WAIT_MS = 60_000;
/** Most proxies end a request that says nothing for a minute. */
const LONGEST_ASK_SECONDS = 30;
/** The server may answer at once, when too many wait or it is stopping: then it is asked again after this. */
const SHORTEST_ASK_MS = 1000;
/** Time for the last answer to arrive when the wait is over. */
const MARGIN_MS = 10_000;

/** Asks again and again, until the message is final or the time is over; the last record in either case. */
export async function waitForEnd(
  ask: Ask,
  options: WaitOptions,
  machine: Machine,
): Promise<Result<StatusRecord>> {
  const { signal, timeoutMs = DEFAULT_WAIT_MS } = options;
  const endsAt = machine.mono() + timeoutMs;
  for (;;) {
    const askedAt = machine.mono();
    const leftMs = endsAt - askedAt;
    const seconds = Math.min(LONGEST_ASK_SECONDS, Math.max(1, Math.ceil(leftMs / 1000)));
    const asked = await ask(seconds, { signal, timeoutMs: Math.max(0, leftMs) + MARGIN_MS });
    if (!asked.ok || isFinal(asked.value) || machine.mono() >= endsAt) return asked;
    const restMs = Math.min(SHORTEST_ASK_MS - (machine.mono() - askedAt), endsAt - machine.mono());
    if (restMs > 0) await machine.sleep(restMs, signal ?? NEVER);
  }
}

const NEVER = new AbortController().signal;

function isFinal({ status }: StatusRecord): boolean {
  return status === 'delivered' || status === 'failed';
}
