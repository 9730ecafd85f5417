/** What tests of the receiver's machine have in common: how a stream is played, and what must be so of a message. */
import fc from 'fast-check';
import { expect } from 'vitest';
import { type Manner, Peer } from '../protocol/smtp-in/peer.ts';
import { cutAt, eachByte } from './inputs.ts';

/** The longest line that is awaited. */
export const MAX_KEPT = 12_288;
const MAX_MESSAGE = 300;
/** More than any stream here: what waits for an answer is bounded in a test of its own. */
const MAX_STREAM = 1_000_000;
/** Longer streams are not also given byte by byte. */
const MAX_BY_BYTE = 200;

export const ENVELOPE = 'MAIL FROM:<a@x.test>\r\nRCPT TO:<b@y.test>\r\n';

/** What is done with line ends and long lines. */
export interface ContentPolicy {
  readonly bareNewline: 'reject' | 'normalize';
  readonly maxLineBytes: number;
}

export const POLICIES: readonly ContentPolicy[] = [
  { bareNewline: 'reject', maxLineBytes: 20 },
  { bareNewline: 'reject', maxLineBytes: 100_000 },
  { bareNewline: 'normalize', maxLineBytes: 20 },
  { bareNewline: 'normalize', maxLineBytes: 100_000 },
];
export const policy = fc.constantFrom(...POLICIES);

/** When questions are answered: at once, when nothing else is to be done, or when all was said. */
export const ANSWERS: readonly Manner['answers'][] = ['at_once', 'late', 'last'];

/** Says bytes to a receiver of its own. */
export function play(bytes: Buffer, content: ContentPolicy, manner: Manner, early = false): Peer {
  const peer = new Peer(
    {
      content,
      auth: 'always',
      maxMessageBytes: MAX_MESSAGE,
      maxTransactions: 6,
      maxCommandsWithoutMail: 8,
      maxWaitingBytes: MAX_STREAM,
    },
    manner,
  );
  if (!early) peer.receiver.greet();
  peer.pump();
  peer.say(bytes);
  expect(peer.receiver.waitingBytes).toBeLessThanOrEqual(MAX_KEPT);
  return peer;
}

/** Plays a stream whole, cut, and short ones byte by byte: all must come to the same. */
export function playAlike(
  bytes: Buffer,
  content: ContentPolicy,
  {
    places,
    answers,
    early = false,
  }: { places: readonly number[]; answers: Manner['answers']; early?: boolean },
): Peer {
  const whole = play(bytes, content, { cut: (all) => [all], answers: 'at_once' }, early);
  const manners: Manner[] = [{ cut: (all) => cutAt(all, places), answers }];
  if (bytes.length < MAX_BY_BYTE) manners.push({ cut: eachByte, answers: 'late' });
  for (const manner of manners) {
    const other = play(bytes, content, manner, early);
    expect([other.sent, other.events]).toEqual([whole.sent, whole.events]);
  }
  return whole;
}

const MESSAGE = /^message .* ("(?:[^"\\]|\\.)*")( dots)?$/s;

/** The contents that a receiver gave out, each of which must be fit to be stored and sent. */
export function bodiesOf({ events }: Peer): string[] {
  return events.filter((event) => event.startsWith('message ')).map(bodyOf);
}

function bodyOf(event: string): string {
  const [, quoted = '', dots] = MESSAGE.exec(event) ?? [];
  const body: unknown = JSON.parse(quoted);
  if (typeof body !== 'string') throw new Error('no body');
  expect(body.length).toBeLessThanOrEqual(MAX_MESSAGE);
  expect(body).toMatch(/^(?:[^\0\r\n]*\r\n)*$/);
  if (dots === undefined) expect(`\r\n${body}`).not.toContain('\r\n.');
  return body;
}
