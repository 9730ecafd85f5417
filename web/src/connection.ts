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

/** While there is no connection, asks whether there is one again, and calls when there is. Gives how to stop. */
export function watchConnection(onBack: () => void): () => void {
  let asking: ReturnType<typeof setInterval> | undefined;
  const unsubscribe = lostAt.subscribe(() => {
    if (lostAt.get() !== null)
      asking ??= setInterval(() => {
        if (!document.hidden) void serverIsAway();
      }, PAUSE_MS);
    else if (asking !== undefined) {
      clearInterval(asking);
      asking = undefined;
      onBack();
    }
  });
  return () => {
    unsubscribe();
    clearInterval(asking);
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
    const answer = await fetch('/favicon.svg', { method: 'HEAD', cache: 'no-store' });
    answerCame(answer);
    return isForAway(answer);
  } catch {
    return true;
  }
}
