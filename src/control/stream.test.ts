import { once } from 'node:events';
import { connect } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, beforeEach, expect, onTestFinished, test } from 'vitest';
import { Installation } from '../../test/support/installation.ts';
import { silentLog } from '../lib/log.ts';
import { callByName, OperationError } from '../operations/call.ts';
import type { Progress } from '../operations/operation.ts';
import type { Operations } from '../operations/table.ts';
import { createControlClient } from './client.ts';
import type { Door } from './door.ts';
import { listenForControl } from './server.ts';
import { readStream, socketFile } from './socket.ts';

let here: Installation;
beforeEach(() => {
  here = new Installation();
});
afterEach(() => here.remove());

const STEP = { name: 'CONNECT', ok: true, detail: 'to 192.0.2.1', atMs: 1 };
const REQUEST = { name: 'out', to: null, unsaved: null };
type Test = (progress: Progress<unknown>) => Promise<unknown>;

/** A control socket whose test of a relay is this. */
async function serve(testRelay: Test): Promise<Operations> {
  const opened = await here.open();
  const operations = {
    ...opened.operations,
    testRelay: (_request: unknown, progress: Progress<unknown>) => testRelay(progress),
  } as unknown as Operations;
  const { dataDir } = here;
  const door: Door = {
    call: (_actor, name, request, progress) => callByName(operations, name, request, progress),
  };
  const options = { dataDir, door, maxRequestBytes: () => 100_000, log: silentLog };
  const control = await listenForControl(options);
  onTestFinished(async () => {
    await control.close();
    await opened.close();
  });
  return createControlClient(dataDir);
}

const unheard = new AbortController().signal;

test('a step is told through the socket before the operation is done', async () => {
  const told = Promise.withResolvers<unknown>();
  const operations = await serve(async ({ tell }) => {
    tell(STEP);
    // Not before the client has heard of it: what is told only in the end would never end.
    await told.promise;
    tell({ ...STEP, name: 'READY' });
    return { ok: true, steps: [] };
  });
  const steps: unknown[] = [];
  const tell = (step: unknown) => {
    steps.push(step);
    told.resolve(null);
  };
  expect(await operations.testRelay(REQUEST, { tell, signal: unheard })).toEqual({ ok: true, steps: [] });
  expect(steps).toEqual([STEP, { ...STEP, name: 'READY' }]);
});

test.each([0, 1])('an error is told as it is, after %i steps', async (count) => {
  const operations = await serve(async ({ tell }) => {
    if (count > 0) tell(STEP);
    throw new OperationError('refused', 'Not today.');
  });
  const error = await operations.testRelay(REQUEST).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(OperationError);
  expect(error).toMatchObject({ code: 'refused', message: 'Not today.' });
});

test('a client that goes away ends the operation', async () => {
  const heard = Promise.withResolvers<unknown>();
  const operations = await serve(async ({ tell, signal }) => {
    tell(STEP);
    await once(signal, 'abort');
    heard.resolve('aborted');
    return { ok: false, steps: [] };
  });
  const gone = new AbortController();
  const asked = operations.testRelay(REQUEST, { tell: () => gone.abort(), signal: gone.signal });
  await expect(asked).rejects.toThrow(OperationError);
  expect(await heard.promise).toBe('aborted');
});

test('a client that does not read is given up', async () => {
  let told = 0;
  const ended = Promise.withResolvers<boolean>();
  await serve(async ({ tell, signal }) => {
    while (!signal.aborted && told < 1000) {
      tell({ ...STEP, detail: 'x'.repeat(100_000) });
      told += 1;
      await turn();
    }
    ended.resolve(signal.aborted);
    return { ok: true, steps: [] };
  });
  const body = JSON.stringify(REQUEST);
  const client = connect(socketFile(here.dataDir));
  onTestFinished(() => void client.destroy());
  client.pause().on('error', () => {});
  client.write(`POST /testRelay HTTP/1.1\r\nHost: x\r\nContent-Length: ${body.length}\r\n\r\n${body}`);
  expect([await ended.promise, told < 100]).toEqual([true, true]);
});

async function* pieces(...texts: readonly string[]): AsyncGenerator<Buffer> {
  for (const text of texts) yield Buffer.from(text);
}

test('an answer may come in any pieces, and must have an end', async () => {
  const line = `${JSON.stringify({ step: 'ä' })}\n${JSON.stringify({ result: 7 })}\n`;
  const bytes = Buffer.from(line);
  for (let at = 0; at <= bytes.length; at++) {
    const steps: unknown[] = [];
    const parts = (async function* () {
      yield bytes.subarray(0, at);
      yield bytes.subarray(at);
    })();
    expect(await readStream(parts, { tell: (step) => steps.push(step), signal: unheard })).toBe(7);
    expect(steps).toEqual(['ä']);
  }
  const progress = { tell() {}, signal: unheard };
  await expect(readStream(pieces('{"step":1}\n'), progress)).rejects.toThrow('before the result');
  const endless = pieces(...Array.from({ length: 50 }, () => 'x'.repeat(100_000)));
  await expect(readStream(endless, progress)).rejects.toThrow('without an end');
});
