/** Large mail on its way to the disk, and what others wait for meanwhile. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { at, message, recipient, takeLane } from '../../../test/contract/store/fixtures.ts';
import { type LoggedRig, openLoggedRig } from '../../../test/support/logged-rig.ts';
import { entryOf } from '../../../test/support/spool-entry.ts';
import type { LaneLease } from '../../domain/lane.ts';
import type { AcceptRecord, QueueLimits } from '../accepting.ts';
import { viewsBehind } from './written-behind.ts';

const MIB = 1024 * 1024;
const LARGE = Buffer.alloc(MIB + 1, 'large');
const ACCEPTED = [{ kind: 'accepted', leased: [true] }];
const LIMITS: QueueLimits = { maxBytes: 3 * MIB, maxMessagesPerKey: 100 };

let rig: LoggedRig;
let lease: LaneLease;
/** Large mail that was let in; its contents are on the disk when the test lets them. */
let large: { readonly accepted: Promise<unknown>; readonly id: string; release(): void };

beforeEach(async () => {
  rig = await openLoggedRig();
  lease = await takeLane(rig.store);
  const begun = Promise.withResolvers<void>();
  const held = Promise.withResolvers<void>();
  rig.disk.set('writev', async (real, fd, parts, position) => {
    if (parts.some(({ byteLength }) => byteLength > MIB)) {
      begun.resolve();
      await held.promise;
    }
    return real(fd, parts, position);
  });
  const record = fresh();
  const { content } = entryOf(LARGE);
  const wish = { keyId: null, sizeBytes: content.sizeBytes, idempotency: null };
  const recipients = record.deliveries.map((delivery) => delivery.recipient);
  const taken = {
    messageId: record.id,
    content,
    wish,
    recipients,
    record: (ref: AcceptRecord['content']) => ({ ...record, content: ref }),
  };
  const accepted = rig.logged.take([taken], { at: () => at(), limits: LIMITS, counted() {} });
  large = { accepted, id: record.id, release: () => held.resolve() };
  await begun.promise;
});

afterEach(async () => {
  large.release();
  await large.accepted;
  await rig.close();
});

/** A message that takes the short way. */
function fresh(change: Partial<AcceptRecord> = {}): AcceptRecord {
  return message({ keyId: null, deliveries: [recipient({ fence: lease.fence })], ...change });
}

function ofSize(length: number): AcceptRecord['content'] {
  return { segment: 1, offset: 5_000, length };
}

test('mail that the database decides on, claims and views do not wait for it', async () => {
  const tied = fresh({ idempotency: { key: 'k', hash: 'h' } });
  expect(await rig.store.accept([tied], at(), LIMITS)).toEqual(ACCEPTED);
  expect(await rig.store.claim([], at())).toEqual([]);
  const views = viewsBehind(() => rig.logged.answered(), rig.inner.views);
  expect(await views.message(large.id)).toBeNull();
  large.release();
  expect(await large.accepted).toEqual(ACCEPTED);
  expect((await views.message(large.id))?.message.id).toBe(large.id);
});

test('the first mail of a key does not wait for it', async () => {
  expect(await rig.store.accept([fresh({ keyId: 'first' })], at(), LIMITS)).toEqual(ACCEPTED);
});

test('it has its room in the queue: what may not fit beside it waits, and is refused', async () => {
  const order: string[] = [];
  const accepted = large.accepted.then(() => order.push('accepted'));
  const other = rig.store.accept([fresh({ content: ofSize(2 * MIB) })], at(), LIMITS);
  const told = other.then(([answer]) => order.push(answer?.kind ?? ''));
  // The database knows what is in the log, and has answered: it is not asked alone before the large mail is there.
  await rig.logged.answered();
  expect(order).toEqual([]);
  large.release();
  await Promise.all([accepted, told]);
  expect(order).toEqual(['accepted', 'queue_full']);
});

test.each([
  ['all that is under way is written', () => rig.logged.written()],
  ['the end', () => rig.logged.finish()],
])('who asks for it waits for it: %s', async (_, asked) => {
  const known = asked().then(() => rig.inner.views.message(large.id));
  large.release();
  expect((await known)?.message.id).toBe(large.id);
});
