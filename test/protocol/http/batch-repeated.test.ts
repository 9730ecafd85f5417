import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { BatchClient, fates, itemsOf, mails } from './batch-client.ts';
import { MAIL } from './world.ts';

/** Batches (contract §2): repeats under an idempotency key, and what a large one costs others. */

let client: BatchClient;

beforeAll(async () => {
  client = await BatchClient.start();
});
afterAll(() => client.world.close());

let count = 0;
const fresh = () => ({ 'Idempotency-Key': `batch ${count++}` });

describe('Idempotency-Key', () => {
  test('a repeat replays each accepted message and makes none', async () => {
    const headers = fresh();
    const first = await client.send(mails(3), headers);
    const before = client.world.intake.submissions.length;
    const second = await client.send(mails(3), headers);
    expect([second.status, second.json]).toEqual([202, first.json]);
    expect([first.headers['idempotency-replayed'], second.headers['idempotency-replayed']]).toEqual([
      undefined,
      'true',
    ]);
    expect(client.world.intake.submissions).toHaveLength(before);
  });

  test('what was refused the first time is accepted the second, the rest replayed', async () => {
    const headers = fresh();
    const [a, b, c] = mails(3);
    const first = await client.send([a, { ...b, text: '' }, c], headers);
    const second = await client.send([a, b, c], headers);
    expect(fates(first)).toEqual(['taken', '400 invalid_submission', 'taken']);
    expect(fates(second)).toEqual(['taken', 'taken', 'taken']);
    expect([itemsOf(second)[0]?.id, itemsOf(second)[2]?.id]).toEqual([
      itemsOf(first)[0]?.id,
      itemsOf(first)[2]?.id,
    ]);
    expect(second.headers['idempotency-replayed']).toBeUndefined();
  });

  test('a key that a single submission has used is refused for a batch, not the other way round', async () => {
    const [used, ours] = [fresh(), fresh()];
    await client.world.post(client.key, MAIL, used);
    const answer = await client.send(mails(2), used);
    expect([answer.status, answer.json['code']]).toEqual([409, 'idempotency_mismatch']);
    await client.send(mails(2), ours);
    expect((await client.world.post(client.key, MAIL, ours)).status).toBe(202);
  });

  test('no key of a client leads to a message of a batch', async () => {
    const headers = fresh();
    await client.send(mails(2), headers);
    const other = { 'Idempotency-Key': `${headers['Idempotency-Key']}0` };
    const answer = await client.world.post(client.key, MAIL, other);
    expect([answer.status, answer.headers['idempotency-replayed']]).toEqual([202, undefined]);
  });

  test('another message in the same place is told by itself', async () => {
    const headers = fresh();
    await client.send(mails(2), headers);
    const answer = await client.send([MAIL, mails(2)[1]], headers);
    expect(fates(answer)).toEqual(['409 idempotency_mismatch', 'taken']);
  });

  test('equal messages of one batch are not one', async () => {
    const answer = await client.send([MAIL, MAIL], fresh());
    expect(new Set(itemsOf(answer).map(({ id }) => id)).size).toBe(2);
  });

  test('while the first is being accepted, the second is told so', async () => {
    const headers = fresh();
    const entered = Promise.withResolvers<void>();
    const gate = Promise.withResolvers<void>();
    const { accept } = client.world.intake;
    client.world.intake.accept = async (submissions) => {
      entered.resolve();
      await gate.promise;
      return accept.call(client.world.intake, submissions);
    };
    const first = client.send(mails(2), headers);
    await entered.promise;
    const second = await client.send(mails(2), headers);
    expect([second.status, second.json['code']]).toEqual([409, 'idempotency_in_progress']);
    client.world.intake.accept = accept;
    gate.resolve();
    expect(fates(await first)).toEqual(['taken', 'taken']);
  });
});

describe('memory', () => {
  test('what messages grow to beyond their text is taken from the budget, or the batch is refused whole', async () => {
    // Equals signs take three bytes each in quoted-printable.
    const growing = mails(4, { text: '='.repeat(40_000) });
    const narrow = await BatchClient.start({ maxBytesInFlight: 250_000 });
    const refused = await narrow.send(growing);
    expect([refused.status, refused.json['code']]).toEqual([503, 'overloaded']);
    expect(narrow.world.intake.submissions).toHaveLength(0);
    expect(fates(await narrow.send(growing.slice(0, 1)))).toEqual(['taken']);
    await narrow.world.close();
  });

  test('others get their turn while a batch is composed', async () => {
    let turns = 0;
    let composing = true;
    const spin = () => {
      turns += 1;
      if (composing) setImmediate(spin);
    };
    const wide = await BatchClient.start({ limits: { maxBatchMessages: 320 } });
    const { accept } = wide.world.intake;
    let seen = 0;
    wide.world.intake.accept = (submissions) => {
      seen = turns;
      return accept.call(wide.world.intake, submissions);
    };
    wide.world.intake.suspended = () => {
      turns = 0;
      spin();
      return null;
    };
    expect(fates(await wide.send(mails(320)))).toHaveLength(320);
    composing = false;
    expect(seen).toBeGreaterThanOrEqual(320 / 16);
    await wide.world.close();
  });
});
