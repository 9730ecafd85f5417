import { useEffect, useState } from 'react';
import { Store, useStored } from './store.ts';

/**
 * Whether the server answers. Calls and the stream of hints say what they meet; the shell says it to people, and code
 * that could not be fetched is fetched again, so that no page is lost to a restart.
 */

/** Since when there is no connection; null while there is one. */
const lostAt = new Store<number | null>(null);

/** A server that restarts is back before this; it is not worth a word. */
const WORTH_A_WORD_MS = 1_500;
/** How long the next try of what could not be fetched waits. */
const PAUSE_MS = 2_000;
/** A question that is not answered by then is lost on its way. */
const ANSWER_MS = 5_000;

/** No answer came. */
export function connectionLost(): void {
  if (lostAt.get() === null) lostAt.put(Date.now());
}

/** An answer came: of the server, or of what stands before it and answers while the server is away. */
export function answerCame(answer: Answer): void {
  if (isForAway(answer)) connectionLost();
  else connectionFound();
}

/** The server was heard. */
export function connectionFound(): void {
  if (lostAt.get() !== null) lostAt.put(null);
}

/**
 * While there is no connection, asks whether there is one again, and calls when there is: at once, one question at a time,
 * and so far apart that a call that fails alone, and is made again whenever the server is back, is not made without end.
 * Gives how to stop.
 */
export function watchConnection(onBack: () => void, ask: () => Promise<unknown> = serverIsAway): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isAsking = false;
  let isStopped = false;
  let answeredAt = Number.NEGATIVE_INFINITY;
  const askSoon = () => {
    if (isAsking || timer !== undefined || isStopped || lostAt.get() === null) return;
    const wait = Math.max(0, answeredAt + PAUSE_MS - performance.now());
    timer = setTimeout(async () => {
      timer = undefined;
      isAsking = true;
      if (!document.hidden) await ask();
      isAsking = false;
      answeredAt = performance.now();
      askSoon();
    }, wait);
  };
  const stopAsking = () => {
    clearTimeout(timer);
    timer = undefined;
  };
  const unsubscribe = lostAt.subscribe(() => {
    if (lostAt.get() !== null) {
      askSoon();
      return;
    }
    stopAsking();
    onBack();
  });
  askSoon();
  return () => {
    isStopped = true;
    unsubscribe();
    stopAsking();
  };
}

/** Since when there is no connection, once that is worth a word; else null. */
export function useLostAt(): number | null {
  const lost = useStored(lostAt);
  const [said, say] = useState<number | null>(null);
  useEffect(() => {
    if (lost === null) {
      say(null);
      return;
    }
    const timer = setTimeout(() => say(lost), WORTH_A_WORD_MS);
    return () => clearTimeout(timer);
  }, [lost]);
  return said;
}

/**
 * Fetches code, and waits while the server is away. What fails although the server answers is thrown: a new version has
 * other code, and the page must be loaded anew. To do that while the server is away would leave the browser's error page.
 */
export function steadily<Code>(
  load: () => Promise<Code>,
  isAway: () => Promise<boolean> = serverIsAway,
  pause: () => Promise<void> = () => new Promise((resolve) => setTimeout(resolve, PAUSE_MS)),
): () => Promise<Code> {
  return async () => {
    for (;;)
      try {
        return await load();
      } catch {
        // Back meanwhile, or there all along: the same is asked for once more, and that counts.
        if (!(await isAway())) return await load();
        connectionLost();
        await pause();
      }
  };
}

type Answer = Pick<Response, 'status' | 'headers'>;

/** Whether what stands before the server answers for it, because it is away. What the server refuses itself is a problem. */
function isForAway({ status, headers }: Answer): boolean {
  const isProblem = headers.get('content-type')?.startsWith('application/problem+json') === true;
  return status >= 502 && status <= 504 && !isProblem;
}

async function serverIsAway(): Promise<boolean> {
  try {
    const answer = await fetch('/favicon.svg', {
      method: 'HEAD',
      cache: 'no-store',
      signal: AbortSignal.timeout(ANSWER_MS),
    });
    answerCame(answer);
    return isForAway(answer);
  } catch {
    return true;
  }
}
