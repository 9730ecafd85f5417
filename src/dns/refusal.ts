/** What is said of mail that cannot go on, for what the DNS holds or does not say. */
import { localReply, type Reply } from '../domain/outcome.ts';
import type { DnsAnswer, RecordType } from './resolver.ts';

/** Mail cannot go there: never (`rejected`), or not now (`deferred`). */
export interface DnsRefusal {
  readonly kind: 'rejected' | 'deferred';
  /** Its enhanced code and cause say which: see {@link selectHosts} and {@link lookUpAddresses}. */
  readonly reply: Reply;
}

/** Never. */
export function rejected(cause: string, enhanced: string, text: string): DnsRefusal {
  return { kind: 'rejected', reply: localReply(cause, enhanced, text) };
}

/** Not now. */
export function deferred(cause: string, enhanced: string, text: string): DnsRefusal {
  return { kind: 'deferred', reply: localReply(cause, enhanced, text) };
}

/** Nothing is known: 4.4.3, to be tried again; a name that can never be asked for is 5.1.2. */
export function unanswered(
  answer: Extract<DnsAnswer<RecordType>, { kind: 'failed' }>,
  what: string,
): DnsRefusal {
  const text = `${what}: ${answer.text}`;
  return answer.cause === 'dns_invalid'
    ? rejected(answer.cause, '5.1.2', text)
    : deferred(answer.cause, '4.4.3', text);
}
