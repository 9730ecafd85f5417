/** How long calls take at most. */
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { FaultyApi, problem } from '../../test/peers/faulty-api.ts';
import { ManualMachine } from '../../test/support/manual-machine.ts';
import { thisMachine } from './machine.ts';
import { Waybill } from './waybill.ts';

const LETTER = { from: 'a@example.com', to: 'b@example.net', text: 'x' };
const LONGEST_TIMER_MS = 2 ** 31 - 1;

describe('a call', () => {
  let api: FaultyApi;
  let machine: ManualMachine;
  let client: Waybill;
  beforeEach(async () => {
    api = await FaultyApi.start();
    machine = new ManualMachine();
    client = new Waybill({ url: api.url, key: 'wb_live_x', machine });
  });

  test('outlives the longest pause that a rate limit asks for', async () => {
    api.faults = [problem(429, 'rate_limited', { 'Retry-After': '60' })];
    const asleep = machine.asked(60_000);
    const sent = client.send(LETTER);
    await asleep;
    machine.advance(60_000);
    expect(await sent).toMatchObject({ ok: true });
  });

  test('that sends much has more time, for each try and as a whole', async () => {
    // 6 MiB are 8 MiB in base64, and 128 times 64 KiB; the rest of the message makes no second.
    const attachments = [{ content: new Uint8Array(6 * 2 ** 20) }];
    const begun = [machine.asked(90_000 + 128_000), machine.asked(30_000 + 128_000)];
    const sent = client.send({ ...LETTER, attachments });
    await Promise.all(begun);
    expect(await sent).toMatchObject({ ok: true });
    const raw = machine.asked(90_000 + 96_000);
    await client.sendRaw(new Uint8Array(6 * 2 ** 20), { from: 'a@x', to: 'b@y' });
    await raw;
  });

  test('that was told how long it may take, takes no longer', async () => {
    const bound = machine.asked(7000);
    await client.send({ ...LETTER, text: 'x'.repeat(2 ** 20) }, { timeoutMs: 7000 });
    await bound;
  });

  test('may take for ever', async () => {
    expect(await client.send(LETTER, { timeoutMs: Number.POSITIVE_INFINITY })).toMatchObject({ ok: true });
  });
});

describe('this machine', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  test('waits longer than its timers count', async () => {
    const over = vi.fn();
    void thisMachine.sleep(LONGEST_TIMER_MS + 5, new AbortController().signal).then(over);
    await vi.advanceTimersByTimeAsync(LONGEST_TIMER_MS + 4);
    expect(over).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(1);
    expect(over).toHaveBeenCalledOnce();
  });

  test('waits for ever, or until it is told otherwise, and leaves no timer', async () => {
    const controller = new AbortController();
    const over = vi.fn();
    void thisMachine.sleep(Number.POSITIVE_INFINITY, controller.signal).then(over);
    await vi.advanceTimersByTimeAsync(LONGEST_TIMER_MS * 3);
    expect(over).not.toHaveBeenCalled();
    controller.abort();
    await vi.advanceTimersByTimeAsync(0);
    expect([over.mock.calls.length, vi.getTimerCount()]).toEqual([1, 0]);
  });
});
