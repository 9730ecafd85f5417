import { expect, test } from 'vitest';
import type { ReceiverOptions } from '../../../src/smtp/receiver/effect.ts';
import { cutAt } from '../../fuzz/inputs.ts';
import { type Manner, Peer } from './peer.ts';

/**
 * A dialogue as lines:
 * - `C: text` the client says the text and CRLF; `R: text` the text alone (one character a byte);
 * - `S: text` the server's next reply begins so; several lines of one reply are joined by `|`;
 * - `E: event` what the owner was told or asked, see {@link Peer};
 * - `! secured`, `! timeOut`, `! shutDown`, `! greet` an event for the receiver.
 * Client lines that follow one another go out together. Every reply and every event must be written down.
 */
export type Dialogue = readonly string[];

/** What is not as usual. */
export interface Setting extends Partial<ReceiverOptions> {
  readonly secure?: boolean;
}

/** Before the greeting. */
export const EARLY = '(early)';
/** The greeting and EHLO. */
export const HELLO: Dialogue = [
  'S: 220 mx.test ESMTP',
  'C: EHLO client.test',
  'S: 250-mx.test|250-PIPELINING',
];
/** A transaction up to its first recipient. */
export const ENVELOPE: Dialogue = [
  ...HELLO,
  'C: MAIL FROM:<a@x.test>',
  'S: 250 2.1.0',
  'C: RCPT TO:<b@y.test>',
  'S: 250 2.1.5',
];

const MANNERS: readonly Manner[] = [
  { cut: (bytes) => [bytes], answers: 'at_once' },
  { cut: (bytes) => [bytes], answers: 'late' },
  { cut: (bytes) => Array.from(bytes, (byte) => Buffer.of(byte)), answers: 'at_once' },
  { cut: (bytes) => Array.from(bytes, (byte) => Buffer.of(byte)), answers: 'last' },
  ...Array.from({ length: 10 }, (_, seed): Manner => {
    const places = Array.from({ length: 8 }, (_, i) => (seed + 3) * 7919 * (i + 1) * (i + 5));
    return { cut: (bytes) => cutAt(bytes, places), answers: seed % 2 === 0 ? 'late' : 'at_once' };
  }),
];

/** Holds the rule by its dialogue, the client's words cut in many ways. */
export function dialogue(rule: string, lines: Dialogue, setting: Setting = {}): void {
  test(rule, () => {
    for (const manner of MANNERS) hold(lines, setting, manner);
  });
}

function hold(lines: Dialogue, { secure, ...options }: Setting, manner: Manner): void {
  const peer = new Peer(options, manner, secure);
  if (lines[0] !== EARLY) peer.receiver.greet();
  let at = lines[0] === EARLY ? 1 : 0;
  peer.pump();
  const take = (prefixes: readonly string[]) => {
    const from = at;
    while (prefixes.some((prefix) => lines[at]?.startsWith(prefix))) at++;
    return lines.slice(from, at);
  };
  while (at < lines.length) {
    const expected = take(['S: ', 'E: ']);
    expectReplies(peer, expected.filter((line) => line.startsWith('S: ')).map(content));
    expect(peer.events).toEqual(expected.filter((line) => line.startsWith('E: ')).map(content));
    peer.sent = '';
    peer.events = [];
    const said = take(['C: ', 'R: ']).map((line) => content(line) + (line.startsWith('C: ') ? '\r\n' : ''));
    if (said.length > 0) peer.say(Buffer.from(said.join(''), 'latin1'));
    for (const event of take(['! '])) tell(peer, content(event));
    if (expected.length + said.length === 0 && !lines[at - 1]?.startsWith('! '))
      throw new Error(`not a line of a dialogue: ${lines[at]}`);
  }
  expect(peer.sent).toBe('');
  expect(peer.events).toEqual([]);
}

function expectReplies(peer: Peer, expected: readonly string[]): void {
  const replies = repliesOf(peer.sent);
  expect(replies.map((reply, i) => reply.slice(0, expected[i]?.length))).toEqual(expected);
  for (const reply of replies) expectWellFormed(reply);
}

/** Lines of at most 512 bytes; an enhanced status of the code's class where there must be one (RFC 2034 §4). */
export function expectWellFormed(reply: string): void {
  for (const line of reply.split('|')) expect(line.length).toBeLessThanOrEqual(510);
  expect(reply).toMatch(/^(220 mx|250[ -]mx|3\d\d |([245])\d\d \2\.\d+\.\d+ .)/);
}

/** Whole replies, the lines of each joined. */
export function repliesOf(sent: string): string[] {
  if (sent === '') return [];
  if (!sent.endsWith('\r\n')) throw new Error('a reply without its end');
  return sent.slice(0, -2).split('\r\n').reduce(join, []);
}

function join(replies: string[], line: string): string[] {
  const last = replies.at(-1);
  if (last !== undefined && /(^|\|)\d{3}-[^|]*$/.test(last)) replies[replies.length - 1] = `${last}|${line}`;
  else replies.push(line);
  return replies;
}

function content(line: string): string {
  return line.slice(line.startsWith('! ') ? 2 : 3);
}

function tell(peer: Peer, event: string): void {
  if (event === 'secured') peer.receiver.secured();
  else if (event === 'timeOut') peer.receiver.timeOut();
  else if (event === 'shutDown') peer.receiver.shutDown();
  else if (event === 'greet') peer.receiver.greet();
  else throw new Error(`no such event: ${event}`);
  peer.pump();
}
