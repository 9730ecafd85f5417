import { useEffect, useState } from 'react';
import { ApiError, call } from '../api.ts';
import { writeTerm } from '../pages/messages/query-text.ts';
import type { Guess } from './recognise.ts';

/** What the server says of a guess. */
export type Answer =
  | {
      readonly kind: 'message';
      readonly id: string;
      readonly subject: string;
      readonly from: string;
      readonly status: string;
    }
  /** A next hop took a message over by this id: its subject. */
  | { readonly kind: 'handed_over'; readonly subject: string }
  /** A source that was refused, and how often. */
  | { readonly kind: 'refused'; readonly count: number }
  /** There is no such thing. */
  | { readonly kind: 'none' }
  | { readonly kind: 'failed'; readonly why: string };

/** Typing has to rest so long before anything is asked. */
const SETTLE_MS = 200;

/** Asks about one guess. */
type Ask = (guess: Guess, signal: AbortSignal) => Promise<Answer>;

/** What the server says of these guesses, as it comes; of other guesses, what was said before is forgotten at once. */
export function useAnswers(guesses: readonly Guess[]): ReadonlyMap<Guess, Answer> {
  const [answers, setAnswers] = useState<ReadonlyMap<Guess, Answer>>(NOTHING);
  useEffect(() => {
    setAnswers(NOTHING);
    const stop = new AbortController();
    const timer = setTimeout(() => {
      void askInTurn(guesses, stop.signal, (guess, answer) =>
        setAnswers((before) => new Map(before).set(guess, answer)),
      );
    }, SETTLE_MS);
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [guesses]);
  return answers;
}

const NOTHING: ReadonlyMap<Guess, Answer> = new Map();

/** Asks about those guesses of which the form does not say all, one after the other, until it is stopped. */
export async function askInTurn(
  guesses: readonly Guess[],
  signal: AbortSignal,
  tell: (guess: Guess, answer: Answer) => void,
  ask: Ask = askServer,
): Promise<void> {
  for (const guess of guesses) {
    if (signal.aborted) return;
    if (!ASKED.includes(guess.kind)) continue;
    const answer = await ask(guess, signal).catch((error: unknown) => failure(error));
    if (signal.aborted) return;
    tell(guess, answer);
  }
}

const ASKED: readonly Guess['kind'][] = ['message', 'message_id', 'hop', 'ip'];

function failure(error: unknown): Answer {
  if (error instanceof ApiError && error.status === 404) return { kind: 'none' };
  return { kind: 'failed', why: error instanceof Error ? error.message : String(error) };
}

async function askServer({ kind, text }: Guess, signal: AbortSignal): Promise<Answer> {
  if (kind === 'message' || kind === 'message_id') {
    const { id, subject, from, status, outcome } = await call('message', { id: text }, signal);
    return { kind: 'message', id, subject: subject ?? '', from: from ?? '', status: outcome ?? status };
  }
  if (kind === 'hop') {
    const query = writeTerm('hop', text);
    const [first] = (await call('search', { query, limit: 1, before: null }, signal)).messages;
    return first === undefined ? { kind: 'none' } : { kind: 'handed_over', subject: first.subject ?? '' };
  }
  const rows = (await call('denials', {}, signal)).filter(({ sourceAddress }) => sourceAddress === text);
  const count = rows.reduce((sum, row) => sum + row.count, 0);
  return count === 0 ? { kind: 'none' } : { kind: 'refused', count };
}
