/** What is told before the end of the attempt is recorded counts within seconds after it. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type FeedbackMessage, NO_FACTS, NO_MESSAGE } from '../../src/domain/feedback.ts';
import { HEALTHY } from './hop-session.ts';
import { accept, startNode } from './one-node.ts';

const SECOND = 1_000;
/** Early feedback is told again every so often. */
const AGAIN_MS = 5 * SECOND;

let node: ReturnType<typeof startNode>;
const answers: boolean[] = [];
beforeEach(async () => {
  node = startNode();
  answers.length = 0;
  // The end of the attempt is known long after the world took the message.
  node.hop.faults = { ...HEALTHY, dawdle: 1 };
  await node.started;
});
afterEach(() => node.store.close());

/** As soon as the world has a message, it tells that it bounced, naming it so. */
function bouncesAtOnce(named: (queueId: string) => Partial<FeedbackMessage>): void {
  node.hop.onTaken = ({ queueId, address }) => {
    const message = { ...NO_MESSAGE, ...named(queueId) };
    const bounce = { ...NO_FACTS, code: 550, enhancedCode: '5.1.1' };
    const feedback = {
      kind: 'bounce',
      source: 'webhook:out',
      message,
      recipient: address,
      bounce,
      at: null,
    } as const;
    const items = [{ feedback, onceId: queueId }];
    void node.engine.feedback
      .tell({ source: 'webhook:out', items, evidence: null, mayBeEarly: true })
      .then(({ changed }) => answers.push(changed));
  };
}

async function recipientOf(id: string) {
  const detail = await node.views.message(id);
  return detail?.recipients[0];
}

/** Runs until the attempt has ended, and so long that what was early was told again. */
async function untilBounced(id: string): Promise<void> {
  while ((await recipientOf(id))?.state !== 'delivered') await node.run(SECOND);
  await node.run(AGAIN_MS + SECOND);
}

test.each<[string, (queueId: string, id: string) => Partial<FeedbackMessage>]>([
  ['its token', (_, id) => ({ token: { id, recipient: 0 } })],
  ['what the hop calls it', (providerMessageId) => ({ providerMessageId })],
])('a bounce that comes too early, and names the message by %s', async (_name, named) => {
  let id = '';
  bouncesAtOnce((queueId) => named(queueId, id));
  id = await accept(node.engine, 'one');
  await untilBounced(id);
  expect(answers, 'it was told once, and changed nothing then').toEqual([false]);
  expect(await recipientOf(id)).toMatchObject({ state: 'failed', outcome: 'bounced' });
  expect(await node.suppressions.suppressionsUnder(['r0@example.net'])).toHaveLength(1);
});
