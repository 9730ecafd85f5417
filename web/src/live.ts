import { useEffect } from 'react';
import type { Hint } from '../../src/dashboard/contract.ts';
import type { Topic } from '../../src/operations/operation.ts';
import { connectionFound, connectionLost, watchConnection } from './connection.ts';
import { openStream, type StreamState } from './live-stream.ts';
import { isFetchingShown, queryClient, refetchShown } from './queries.ts';
import { refreshSession } from './session.tsx';
import { Store, useStored } from './store.ts';

/**
 * Keeps what is shown up to date: hints say what may have changed, and what is shown of it is fetched again. A page
 * that is not looked at fetches nothing; it catches up when it is.
 */

/** A page that was away for longer fetches all that it shows. */
const AWAY_MS = 20_000;
/** A timer that is so late has slept with the machine. */
const TICK_MS = 10_000;
const SLEPT_MS = 40_000;

const state = new Store<StreamState>('connecting');
const hintListeners = new Set<(hint: Hint) => void>();

/** Begins to listen; gives how to stop. */
export function startLive(): () => void {
  const stream = openStream((event) => {
    if (event.kind === 'state') {
      if (state.get() === 'reconnecting' && event.state === 'live') catchUp();
      state.put(event.state);
      if (event.state === 'live') connectionFound();
      else if (event.state === 'reconnecting') connectionLost();
    } else if (event.kind === 'hint') {
      for (const listener of hintListeners) listener(event.hint);
      for (const gathering of GATHERINGS) gathering.add(event.hint.topics);
    } else if (event.kind === 'reset') catchUp();
    else refreshSession();
  });
  const stopWatching = watchAbsence(() => {
    stream.check();
    catchUp();
  });
  const stopAsking = watchConnection(catchUp);
  return () => {
    stopWatching();
    stopAsking();
    stream.close();
    for (const gathering of GATHERINGS) gathering.stop();
    state.put('connecting');
  };
}

/** Hints on their way to calls: the first one acts at once, and those that follow it closely act together. */
export class Gathering {
  readonly #prompt: boolean;
  readonly #topics = new Set<Topic>();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #lastFetch = Number.NEGATIVE_INFINITY;
  #pace = 0;

  /** `prompt`: for the calls that are, at an even pace. */
  constructor(prompt: boolean) {
    this.#prompt = prompt;
  }

  add(topics: readonly Topic[]): void {
    for (const topic of topics) this.#topics.add(topic);
    this.go();
  }

  /** Has what was gathered act. */
  go(): void {
    if (this.#topics.size === 0 || this.#timer !== undefined || document.hidden) return;
    const wait = Math.max(0, this.#lastFetch + this.#pace - performance.now());
    this.#timer = setTimeout(() => this.#fetch(), wait);
  }

  /** Forgets what was gathered. */
  clear(): void {
    this.#topics.clear();
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #fetch(): void {
    this.#timer = undefined;
    // The answer that is under way may be from before the hint, and is not cut short: another one has to follow it.
    if (this.#prompt && isFetchingShown(this.#topics, true)) {
      this.#timer = setTimeout(() => this.#fetch(), PROMPT_MS);
      return;
    }
    const now = performance.now();
    this.#pace = this.#prompt ? PROMPT_MS : gatherMs(this.#pace, now - this.#lastFetch);
    this.#lastFetch = now;
    refetchShown(new Set(this.#topics), this.#prompt);
    this.#topics.clear();
  }
}

const GATHERINGS = [new Gathering(true), new Gathering(false)];

function catchUp(): void {
  for (const gathering of GATHERINGS) gathering.clear();
  void queryClient.invalidateQueries({ predicate: ({ meta }) => meta !== undefined });
}

/** Calls when the page is looked at again after a while, is online again, or has slept with its machine. */
function watchAbsence(onReturn: () => void): () => void {
  let hiddenAt: number | null = null;
  let lastTick = Date.now();
  const onVisible = () => {
    if (document.hidden) {
      hiddenAt = Date.now();
      return;
    }
    const away = hiddenAt === null ? 0 : Date.now() - hiddenAt;
    hiddenAt = null;
    if (away > AWAY_MS) onReturn();
    else for (const gathering of GATHERINGS) gathering.go();
  };
  const tick = setInterval(() => {
    const late = Date.now() - lastTick > SLEPT_MS;
    lastTick = Date.now();
    if (late && !document.hidden) onReturn();
  }, TICK_MS);
  document.addEventListener('visibilitychange', onVisible);
  window.addEventListener('online', onReturn);
  return () => {
    clearInterval(tick);
    document.removeEventListener('visibilitychange', onVisible);
    window.removeEventListener('online', onReturn);
  };
}

/** Whether hints arrive now. */
export function useLiveState(): StreamState {
  return useStored(state);
}

/** Calls for each hint, at once: for what does more than fetch again, such as counting what is new. */
export function useHints(onHint: (hint: Hint) => void): void {
  useEffect(() => {
    hintListeners.add(onHint);
    return () => {
      hintListeners.delete(onHint);
    };
  }, [onHint]);
}

/**
 * Calls that are prompt are fetched so far apart: with the server's time for hints and for sharing its answers, what they
 * show is never older than a second.
 */
const PROMPT_MS = 500;

/** After a quiet time hints act at once, and then at this distance. */
const FIRST_MS = 1_000;
/** On a busy service, where there is always a hint, pages fetch so often at the most. */
const LAST_MS = 8_000;
const GROWTH = 1.5;

/**
 * How long hints are gathered from one fetch to the next, so that a page is quick where little happens and asks little
 * where much does: many open dashboards must not weigh on delivery.
 */
export function gatherMs(formerMs: number, sinceFetchMs: number): number {
  const isBusy = sinceFetchMs < 2 * formerMs;
  return isBusy ? Math.min(LAST_MS, Math.max(FIRST_MS, formerMs * GROWTH)) : FIRST_MS;
}
