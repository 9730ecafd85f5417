/** A receiver that refuses everybody is broken, not the addresses: they get mail again. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { NO_FACTS, NO_MESSAGE } from '../../src/domain/feedback.ts';
import type { FeedbackItem } from '../../src/engine/contract.ts';
import { EVERY_EVENT } from '../../src/store/events.ts';
import { GONE_TEXT } from './mailboxes.ts';
import { startNode } from './one-node.ts';
import { submissionNamed } from './scene.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
/** As many as a domain may refuse without being guarded. */
const CREDIBLE = 50;
const DOMAIN = 'example.net';

let node: ReturnType<typeof startNode>;
let isBroken = true;
let submitted = 0;
beforeEach(async () => {
  node = startNode();
  isBroken = true;
  const gone = { code: 550, enhanced: '5.1.1', lines: [GONE_TEXT], text: GONE_TEXT };
  node.hop.refusal = (address) => (isBroken && address.startsWith('x') ? gone : null);
  await node.started;
});
afterEach(() => node.store.close());

/** Hands in one message for each of these; their ids. */
async function send(addresses: readonly string[]): Promise<string[]> {
  const ids: string[] = [];
  for (const address of addresses) {
    const named = submissionNamed(`t${++submitted}`, 1);
    const [first] = named.envelope.recipients;
    if (first === undefined) throw new Error('nobody');
    const envelope = { ...named.envelope, recipients: [{ ...first, address }] };
    const [answer] = await node.engine.intake.accept([{ ...named, envelope }]);
    if (answer?.kind !== 'accepted') throw new Error(`not accepted: ${answer?.kind}`);
    ids.push(answer.id);
  }
  return ids;
}

function some(count: number, letter: string, from = 0): string[] {
  return Array.from({ length: count }, (_, place) => `${letter}${from + place}@${DOMAIN}`);
}

async function entryOf(address: string) {
  const [entry] = await node.suppressions.suppressionsUnder([address]);
  return entry;
}

async function outcomeOf(id: string | undefined) {
  return (await node.views.message(id ?? ''))?.recipients[0]?.outcome;
}

/** What is told later of a message that its recipient's domain accepted. */
function bounceOf(id: string, recipient: string): FeedbackItem {
  const bounce = { ...NO_FACTS, code: 550, enhancedCode: '5.1.1' };
  const feedback = {
    kind: 'bounce',
    source: 'dsn',
    message: { ...NO_MESSAGE, id },
    recipient,
    bounce,
  } as const;
  return { feedback: { ...feedback, at: null }, onceId: null };
}

async function guards(): Promise<string[]> {
  const query = { ...EVERY_EVENT, types: ['suppression.guarded'] as const, from: { after: 0 }, limit: 9 };
  return (await node.views.events(query)).events.map(({ facts }) => facts.domain ?? '');
}

test('a domain that refuses everybody suppresses nobody for longer than a day, until it has recovered', async () => {
  const many = some(CREDIBLE + 30, 'x');
  await send(many);
  await node.run(5 * MINUTE);
  expect(await guards()).toEqual([DOMAIN]);
  const entries = (await Promise.all(many.map(entryOf))).filter((entry) => entry !== undefined);
  expect(entries.length).toBeGreaterThanOrEqual(CREDIBLE);
  expect(entries.length).toBeLessThan(many.length);
  const now = node.life.wall();
  for (const { address, expiresAt } of entries)
    expect(expiresAt ?? Number.POSITIVE_INFINITY, address).toBeLessThanOrEqual(now + DAY);

  // While it lasts, others are refused and not suppressed: their next mail is tried.
  await send(['x900@example.net']);
  await node.run(MINUTE);
  expect(await entryOf('x900@example.net')).toBeUndefined();
  isBroken = false;
  const [again] = await send(['x900@example.net']);
  await node.run(MINUTE);
  expect(await outcomeOf(again)).toBe('accepted');

  // An hour without it, what it refuses is credible again.
  node.life.jump(HOUR);
  isBroken = true;
  await send(['x901@example.net']);
  await node.run(MINUTE);
  expect((await entryOf('x901@example.net'))?.expiresAt).toBeNull();
  expect(await guards()).toEqual([DOMAIN]);

  // A day later everybody can be written to.
  node.life.jump(DAY);
  isBroken = false;
  const [late, ...others] = await send(many);
  await node.run(5 * MINUTE);
  expect(await outcomeOf(late)).toBe('accepted');
  for (const id of others) expect(await outcomeOf(id)).toBe('accepted');
});

test('a domain that takes more than it refuses is not guarded', async () => {
  for (let round = 0; round < CREDIBLE + 10; round++) {
    await send([...some(1, 'x', round), ...some(2, 'r', 2 * round)]);
    await node.run(10_000);
  }
  expect(await guards()).toEqual([]);
  expect((await entryOf('x0@example.net'))?.expiresAt).toBeNull();
  expect((await entryOf(`x${CREDIBLE + 9}@example.net`))?.expiresAt).toBeNull();
  expect(await entryOf('r0@example.net')).toBeUndefined();
});

test('a domain that accepts everybody, and then bounces most of it, is guarded', async () => {
  await send(['x0@example.net']);
  await node.run(MINUTE);
  const taken = some(10 * CREDIBLE, 'r');
  const ids = await send(taken);
  await node.run(5 * MINUTE);
  expect(await outcomeOf(ids.at(-1))).toBe('accepted');
  const items = ids.slice(0, 9 * CREDIBLE).map((id, place) => bounceOf(id, taken[place] ?? ''));
  await node.engine.feedback.tell({ source: 'dsn', items, evidence: null, mayBeEarly: false });
  await node.run(MINUTE);
  expect(await guards()).toEqual([DOMAIN]);
  const [last = ''] = taken.slice(9 * CREDIBLE);
  const [again = ''] = ids.slice(9 * CREDIBLE);
  const late = [bounceOf(again, last)];
  await node.engine.feedback.tell({ source: 'dsn', items: late, evidence: null, mayBeEarly: false });
  expect(await outcomeOf(again)).toBe('bounced');
  expect(await entryOf(last)).toBeUndefined();
});
