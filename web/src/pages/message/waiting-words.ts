import type { Story } from './timeline.ts';

/** What a message or a recipient waits for, as the record says it. */
export type WaitingFor = NonNullable<Story['record']['waitingFor']>;

const WORDS: Readonly<Record<WaitingFor, string>> = {
  scheduled: 'as its sender asked',
  backoff: 'after the pause that follows an attempt',
  turn: 'as soon as its relay has room',
  relay_resting: 'its next hop failed and is left alone',
  relay_probing: 'single attempts find out whether its next hop is well again',
  relay_spent: 'its relay has had what it may have today',
  relay_paused: 'its relay is paused',
  relay_disabled: 'its relay is disabled',
  relay_missing: 'its relay is gone',
  no_route: 'it has no route',
};

/** Why it is not tried now. */
export function waitingWords(waitingFor: WaitingFor): string {
  return WORDS[waitingFor];
}

/** What goes its usual way, of which nobody needs to be told. */
const USUAL: ReadonlySet<WaitingFor> = new Set(['scheduled', 'backoff', 'turn']);

/** Whether something keeps it from being tried when it is due. */
export function isKept(waitingFor: WaitingFor): boolean {
  return !USUAL.has(waitingFor);
}
