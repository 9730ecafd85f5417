/** docs/smtp.md has every reply of the listener, the table of codes every code, and no other. */
import { expect, test } from 'vitest';
import { isSettingKey } from '../../../src/config/schema.ts';
import { SMTP_REFUSALS } from '../../../src/ingest/smtp/refusal-codes.ts';
import {
  deniedCodes,
  enhancedCodes,
  firstCells,
  refusedCodes,
  sessionCodes,
  sourceReplies,
} from '../../support/smtp-refusals.ts';

const DOC = 'docs/smtp.md';
const REPLY = /\b(\d{3})(?: (\d\.\d+\.\d+))?/g;

/** Replies in the table, such as `550 5.7.1`; or `220`, whatever stands behind it. */
const replies = firstCells(DOC, 'Reply | Why | What to do').flatMap((cell) =>
  [...cell.matchAll(REPLY)].map(([text, code = '', enhanced]) => ({ text, code, enhanced })),
);

test('every code by which somebody is denied something, or a message refused, is in the table of codes', () => {
  const known = Object.keys(SMTP_REFUSALS);
  expect([...deniedCodes(), ...refusedCodes()].filter((code) => !known.includes(code))).toEqual([]);
});

test('every code in the table is one that is given', () => {
  const given = new Set([...deniedCodes(), ...refusedCodes(), ...sessionCodes()]);
  expect(Object.keys(SMTP_REFUSALS).filter((code) => !given.has(code))).toEqual([]);
});

test('every setting that a cure names is one', () => {
  const named = Object.values(SMTP_REFUSALS).flatMap(({ meaning, cure }) => [
    ...`${meaning} ${cure}`.matchAll(/`([a-z_]+\.[a-z_]+)`/g),
  ]);
  expect(named.map(([, key]) => key).filter((key) => !isSettingKey(key ?? ''))).toEqual([]);
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
