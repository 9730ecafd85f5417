/** What tells of much mail at once, applied by a node over a real store. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type FeedbackMessage, NO_FACTS, NO_MESSAGE } from '../../src/domain/feedback.ts';
import type { FeedbackItem, FeedbackReport } from '../../src/engine/contract.ts';
import type { Event } from '../../src/observe/events.ts';
import { accept, startNode } from './one-node.ts';

/** More than is applied in one transaction. */
const MANY = 250;

let node: ReturnType<typeof startNode>;
let seen: Event[];
beforeEach(async () => {
  node = startNode();
  seen = [];
  node.events.on((event) => seen.push(event));
  await node.started;
});
afterEach(() => node.store.close());

/** Two messages that were delivered. */
async function delivered(): Promise<[string, string]> {
  const ids: [string, string] = [await accept(node.engine, 'one'), await accept(node.engine, 'two')];
  await node.run(60_000);
  return ids;
}

/** So many events that name a message so. */
function delays(count: number, named: Partial<FeedbackMessage>): FeedbackItem[] {
  const message = { ...NO_MESSAGE, ...named };
  const told = {
    kind: 'delayed',
    source: 'webhook:out',
    message,
    recipient: null,
    bounce: NO_FACTS,
  } as const;
  return Array.from({ length: count }, () => ({ feedback: { ...told, at: null }, onceId: null }));
}

function tell(items: readonly FeedbackItem[], change: Partial<FeedbackReport> = {}) {
  const evidence = { contentType: 'application/json', bytes: Buffer.from('[]') };
  const report = { source: 'webhook:out', items, evidence, mayBeEarly: false, ...change } as const;
  return node.engine.feedback.tell(report);
}

function verdicts(verdict: string): number {
  return seen.filter((event) => event.type === 'told' && event.verdict === verdict).length;
}

test('much is applied in parts, between which others have their turn', async () => {
  const [id, other] = await delivered();
  const ended: string[] = [];
  const much = tell(delays(MANY, { id })).then(() => ended.push('much'));
  const little = tell(delays(1, { id: other })).then(() => ended.push('little'));
  await Promise.all([much, little]);
  expect(ended).toEqual(['little', 'much']);
  expect(verdicts('matched')).toBe(MANY + 1);
});

test('all of it may be early', async () => {
  await tell(delays(MANY, { providerMessageId: 'unknown' }), { mayBeEarly: true });
  expect(verdicts('early')).toBe(MANY);
  await node.run(11 * 60_000);
  expect(verdicts('unmatched')).toBe(MANY);
});

test('its evidence is kept once: with the message that all of it is about, else with none', async () => {
  const [id, other] = await delivered();
  const about = await tell(delays(MANY, { id }));
  expect(about).toMatchObject({ matched: true, changed: true });
  const both = await tell([...delays(MANY, { id }), ...delays(1, { id: other })]);
  expect(both).toMatchObject({ matched: true, changed: true });
  expect(await node.views.feedbackAbout(id)).toMatchObject([{ id: about.id, kind: 'delayed' }]);
  expect(await node.views.feedbackAbout(other)).toEqual([]);
  expect(await node.views.feedback(both.id)).toMatchObject({ messageId: null, base64: 'W10=' });
});

test('the words of a refusal are kept as whole characters', async () => {
  const text = `${'x'.repeat(499)}\u{1F4ED} ${'y'.repeat(100)}`;
  node.hop.refusal = () => ({ code: 550, enhanced: '5.1.1', lines: [text], text });
  await delivered();
  const [entry] = await node.suppressions.suppressionsUnder(['r0@example.net']);
  expect(entry?.evidence?.text).toBe(`${'x'.repeat(499)}\u{FFFD}`);
});
