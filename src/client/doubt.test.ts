/** After an error of a send: whether the message may have been accepted all the same. */
import { beforeEach, expect, test } from 'vitest';
import { type Fault, FaultyApi, problem } from '../../test/peers/faulty-api.ts';
import { ManualMachine } from '../../test/support/manual-machine.ts';
import { Waybill } from './waybill.ts';

const LETTER = { from: 'a@example.com', to: 'b@example.net', text: 'x' };
const LATER = { 'Retry-After': '600' };
const page = (status: number) => ({ kind: 'answer' as const, status, body: '<html>Sorry</html>' });

let api: FaultyApi;
let machine: ManualMachine;
let client: Waybill;
beforeEach(async () => {
  api = await FaultyApi.start();
  machine = new ManualMachine();
  client = new Waybill({ url: api.url, key: 'wb_live_x', machine, maxRetries: 1 });
});

test.for<[string, boolean, ...Fault[]]>([
  ['lost behind acceptance, then asked to wait', true, { kind: 'drop-after' }, problem(503, 'x', LATER)],
  ['lost behind acceptance, then refused', true, { kind: 'drop-after' }, problem(401, 'unauthorized')],
  ['lost twice', true, { kind: 'drop' }, { kind: 'drop' }],
  ['a fault of the server’s', true, problem(500, 'internal_error')],
  ['a time-out on the way', true, problem(408, 'request_timeout', LATER)],
  ['a proxy that got no answer', true, page(504), page(504)],
  ['a proxy that says no more than that', true, page(503), page(503)],
  ['an acceptance that is not the API’s', true, page(202)],
  ['the first still at work', true, problem(409, 'idempotency_in_progress', LATER)],
  ['a refusal', false, problem(400, 'invalid_submission')],
  ['a refusal for now', false, problem(503, 'suspended', LATER)],
  ['a refusal for now, then for good', false, problem(503, 'suspended'), problem(403, 'sender_domain')],
  ['a proxy that refuses', false, page(413)],
])('%s: %s', async ([, maybeAccepted, ...faults]) => {
  api.faults = faults;
  expect(await client.send(LETTER)).toMatchObject({
    ok: false,
    error: { maybeAccepted, idempotencyKey: 'key-1' },
  });
});

test('the caller gives up, or the time is over, while the server is at work: it may', async () => {
  api.faults = [{ kind: 'hang' }, { kind: 'hang' }];
  const controller = new AbortController();
  const aborted = client.send(LETTER, { signal: controller.signal });
  await api.until(1);
  controller.abort();
  expect(await aborted).toMatchObject({ ok: false, error: { kind: 'aborted', maybeAccepted: true } });
  const late = client.send(LETTER, { timeoutMs: 5000 });
  await api.until(2);
  machine.advance(5000);
  expect(await late).toMatchObject({ ok: false, error: { kind: 'timeout', maybeAccepted: true } });
});

test('the server was never asked: it cannot', async () => {
  const aborted = await client.send(LETTER, { signal: AbortSignal.abort() });
  expect(aborted).toMatchObject({ ok: false, error: { kind: 'aborted', maybeAccepted: false } });
  await api.close();
  const refused = await client.send(LETTER);
  expect(refused).toMatchObject({ ok: false, error: { kind: 'network', maybeAccepted: false } });
});

test('what sends nothing accepts nothing', async () => {
  api.faults = [{ kind: 'drop' }, { kind: 'drop' }];
  const asked = await client.get('msg_1');
  expect(asked).toMatchObject({ ok: false, error: { kind: 'network', maybeAccepted: false } });
  expect(asked.ok || 'idempotencyKey' in asked.error).toBe(false);
});
