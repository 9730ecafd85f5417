/** What an answer to a provider's check of our credentials says. */
import { judge, restOf } from './judge.ts';
import type { HttpAnswer, Provider } from './provider.ts';
import { plainText } from './words.ts';

/** An answer, and what is needed to tell of it. */
export interface Checked {
  readonly answer: HttpAnswer;
  readonly phrase: string;
  /** Forms of secrets that must not be shown. */
  readonly secrets: readonly string[];
  /** Wall ms. */
  readonly now: number;
}

/** What is found: `code` is what to search for. */
export interface Finding {
  readonly good: boolean;
  readonly code: string;
  /** One line without secrets. */
  readonly text: string;
}

/**
 * What the provider's own reading finds; else what its answer table says, so that an answer of no known shape is never
 * good, and none but those of bad credentials is told as one.
 */
export function findingOf(provider: Provider, { answer, phrase, secrets, now }: Checked): Finding {
  const own = provider.checked?.(answer) ?? null;
  if (own !== null) return { ...own, code: 'check_failed', text: plainText(own.text, secrets) };
  const said = plainText(`${answer.status} ${phrase}`, secrets);
  if (answer.status >= 200 && answer.status < 300)
    return provider.checked === undefined
      ? { good: true, code: '', text: said }
      : { good: false, code: 'provider_bad_answer', text: `${said}: ${NOT_THEIRS}` };
  const { reply } = judge(provider.answers, {
    ...{ answer, phrase, isWhole: true, facts: provider.read(answer), secrets, now },
  });
  const restMs = restOf(answer.headers['retry-after'], now);
  const wait = restMs === null ? '' : `; it asks to wait ${Math.ceil(restMs / 1000)} s`;
  const status = reply.text.startsWith(String(answer.status)) ? '' : `${answer.status} `;
  return { good: false, code: reply.cause, text: `${status}${reply.text}${wait}` };
}

const NOT_THEIRS =
  'not what this provider answers, so something else is there or in between: correct endpoint, or ask who runs the network';
