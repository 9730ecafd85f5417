/** docs/smtp.md has every reply of the listener and every code in its log of the denied, and no other. */
import { expect, test } from 'vitest';
import {
  deniedCodes,
  enhancedCodes,
  firstCells,
  refusedCodes,
  sourceReplies,
} from '../../support/smtp-refusals.ts';

const DOC = 'docs/smtp.md';
const REPLY = /\b(\d{3})(?: (\d\.\d+\.\d+))?/g;

/** Replies in the table, such as `550 5.7.1`; or `220`, whatever stands behind it. */
const replies = firstCells(DOC, 'Reply | Why | What to do').flatMap((cell) =>
  [...cell.matchAll(REPLY)].map(([text, code = '', enhanced]) => ({ text, code, enhanced })),
);

/** Codes in the first cells of the table with this head. */
function codesIn(head: string): string[] {
  const cells = firstCells(DOC, head);
  return cells.flatMap((cell) => [...cell.matchAll(/`([a-z_]+)`/g)].map(([, code = '']) => code)).sort();
}

test('every code by which somebody is denied something is in the table of codes, and no other', () => {
  expect(codesIn('`code` | What was refused')).toEqual([...deniedCodes()].sort());
});

test('every code by which a message is refused is in the table of codes, and no other', () => {
  expect(codesIn('`code` | Why the message was refused')).toEqual([...refusedCodes()].sort());
});

test('every reply is in the table of replies', () => {
  const isTold = (reply: string) =>
    replies.some(({ text, code }) => text === reply || code === reply || text === reply.slice(0, 3));
  expect([...sourceReplies()].filter((reply) => !isTold(reply))).toEqual([]);
});

test('every reply in the table is one that the listener gives', () => {
  const given = [...sourceReplies()];
  const statuses = enhancedCodes();
  const isGiven = ({ text, code, enhanced }: (typeof replies)[number]) =>
    given.includes(text) ||
    (given.some((reply) => reply.startsWith(code)) && (enhanced === undefined || statuses.has(enhanced)));
  expect(replies.filter((reply) => !isGiven(reply))).toEqual([]);
});

test('no reply stands twice in the table', () => {
  const all = replies.map(({ text }) => text);
  expect(all.filter((text, place) => all.indexOf(text) < place)).toEqual([]);
});
