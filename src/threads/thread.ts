import { parentPort } from 'node:worker_threads';
import { storeErrorOf } from '../store/sqlite/errors.ts';
import type { StoreError } from '../store/store.ts';
import { type FromThread, packError, type ToThread, type WireAnswer, type WireCall } from './wire.ts';

/** What a thread does once it is open. */
export interface Service {
  /** Answers a batch of calls, in order. */
  answer(calls: readonly WireCall[]): WireAnswer[];
  close(): void;
}

/**
 * Serves the thread that started this one until it says close. A service that cannot open is reported, not thrown; a
 * later error ends the thread, and with it the process.
 */
export function serve(open: () => Service): void {
  const port = parentPort;
  if (port === null) throw new Error('this file runs in a worker thread only');
  const post = (message: FromThread) => port.postMessage(message);
  let service: Service;
  try {
    service = open();
  } catch (error) {
    post({ kind: 'refused', error: packError(storeErrorOf(error)) });
    return;
  }
  port.on('message', (message: ToThread) => {
    if (message !== 'close') return post({ kind: 'answers', answers: service.answer(message) });
    service.close();
    port.close();
  });
  post({ kind: 'ready' });
}

/** The wire form of an answer. */
export function packAnswer(
  answer: { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly error: StoreError },
): WireAnswer {
  return answer.ok ? answer : { ok: false, error: packError(answer.error) };
}
