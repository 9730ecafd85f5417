import { afterEach, beforeEach, expect, test } from 'vitest';
import { Installation } from '../../test/support/installation.ts';
import { COMMAND_LINE } from './door.ts';
import type { Offline } from './offline.ts';

let here: Installation;
let opened: Offline;
beforeEach(async () => {
  here = new Installation();
  opened = await here.open();
});
afterEach(async () => {
  await opened.close();
  here.remove();
});

const LETTER = { from: 'Ada <ada@example.com>', to: ['bob@example.net'], subject: 'Hello', text: 'Hi.' };

async function submitted(more: object = {}): Promise<string> {
  return (await opened.operations.submit({ message: { ...LETTER, ...more } })).id;
}

/** Relays and routes are those at the start, where no server runs. */
async function reopened(): Promise<void> {
  await opened.close();
  opened = await here.open();
}

async function codesOf(id: string): Promise<string[]> {
  return (await opened.operations.preflight({ id })).findings.map(({ code }) => code);
}

test('captured mail is judged by the way that it would go', async () => {
  const id = await submitted();
  const strict = await submitted({ requireTls: true, tags: ['strict'] });
  // Nothing is sent from here yet, so nothing is known of a way.
  expect(await codesOf(id)).toEqual([]);
  const out = { name: 'out', type: 'smtp', host: 'mail.example', max_message_bytes: 100 };
  await opened.operations.addRelay({ definition: out, secret: null, makeDefault: true });
  await reopened();
  expect(await codesOf(id)).toEqual(['relay-size', 'dkim-not-aligned']);
  const provider = { name: 'provider', type: 'resend' };
  await opened.operations.addRelay({ definition: provider, secret: 're_key', makeDefault: false });
  const routes = [
    { name: 'strict', match: { tag: 'strict' }, via: ['provider'] },
    { name: 'all', match: {}, via: ['inbox'] },
  ];
  await opened.operations.publishRoutes({ routes });
  await reopened();
  expect(await codesOf(id)).toEqual([]);
  expect(await codesOf(strict)).toEqual(['requiretls-refused']);
});

test('priority and addresses count as the message has them', async () => {
  expect(await codesOf(await submitted({ priority: 'bulk' }))).toEqual(['unsubscribe-missing']);
  expect(await codesOf(await submitted({ to: ['zoë@example.net'] }))).toEqual(['smtputf8-needed']);
});

test('there must be a message', async () => {
  await expect(codesOf('msg_x')).rejects.toMatchObject({ code: 'not_found' });
});

test('a draft is bounded by the shape of its request', async () => {
  const { door } = opened;
  const draft = { from: '', subject: 'x'.repeat(2_001), html: null, text: null };
  await expect(door.call(COMMAND_LINE, 'preflight', { draft })).rejects.toMatchObject({ code: 'invalid' });
});
