import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { Installation } from '../../test/support/installation.ts';
import { PLAIN_KEY } from '../../test/support/plain-key.ts';
import { OPERATION_NAMES, type OperationName } from '../operations/table.ts';
import { COMMAND_LINE } from './door.ts';
import type { Offline } from './offline.ts';

/** Every place that holds a secret has one with this in it. */
const PLANTED = 'planted1secret';

/** What makes a secret gives it to whoever asked, this once. */
const GIVES_SECRET: readonly OperationName[] = ['createKey', 'rotateKey', 'setupLink'];

let here: Installation;
let opened: Offline;
beforeEach(async () => {
  here = new Installation();
  await (await here.open()).close();
  const relay = `{ name: filed, type: smtp, host: mail.example, username: u, password: ${PLANTED} }`;
  writeFileSync(
    join(here.dataDir, 'waybill.yaml'),
    `relays: [${relay}]\ndelivery: { default_relay: inbox }\n`,
  );
  opened = await here.open();
});
afterEach(async () => {
  await opened.close();
  here.remove();
});

const webhook = { name: 'hook', type: 'webhook', url: 'https://hook.example/' };
const stored = { name: 'out', type: 'smtp', host: 'mail.example', username: 'u' };
const nobody = { name: 'nobody' };
const page = { limit: 10, before: null };
const message = { from: 'a@example.com', to: ['b@example.net'], subject: 's', text: 't' };

/** A request for every operation, such as goes well where that can be; those that are refused answer, too. */
const REQUESTS: Partial<Record<OperationName, object>> = {
  addRelay: { definition: stored, secret: `${PLANTED}2`, makeDefault: false },
  checkRelay: { definition: { ...webhook, secret: PLANTED }, makeDefault: null },
  relay: { name: 'filed' },
  updateRelay: { name: 'hook', definition: { ...webhook, max_concurrency: 2 }, secret: `${PLANTED}3` },
  removeRelay: { name: 'gone' },
  switchRelay: { name: 'hook', disabled: true },
  testRelay: { name: 'hook', to: null, unsaved: { definition: { ...webhook, url: 'x' }, secret: PLANTED } },
  putSettings: { values: { 'database.url': PLANTED } },
  putCertificate: { certificate: PLANTED, key: `-----BEGIN PRIVATE KEY-----${PLANTED}` },
  allowSource: { setting: 'api.allowed_cidrs', cidr: '192.0.2.1' },
  createUser: { name: 'ada', role: 'admin' },
  updateUser: { name: 'ada', role: 'viewer', disabled: null },
  resetPassword: { name: 'ada', password: `${PLANTED} ${PLANTED}` },
  sessions: nobody,
  endSession: { id: 'x' },
  updateKey: { key: 'app', rateLimit: 5 },
  revokeKey: { key: 'gone' },
  addDomain: { name: 'example.com', algorithm: 'ed25519', selector: null },
  updateDomain: { name: 'example.org', returnPath: 'bounces.example.org' },
  rotateDomain: { name: 'example.org', algorithm: null, selector: null, now: false },
  backup: { file: null, passphrase: PLANTED },
  logTail: { level: 'debug', contains: '', after: null, limit: 1000 },
  activity: { actor: null, action: null, subject: null, ...page },
  queue: { relay: null },
  hold: { target: 'hook', kind: 'pause' },
  routeTables: { limit: 10 },
  routeTable: { version: null },
  search: { query: 'planted', ...page },
  submit: { message },
  messages: { statuses: [], filter: {}, ...page },
};

test('no operation answers with a secret, nor does what is written down of it', async () => {
  const { operations, door } = opened;
  await operations.addRelay({ definition: webhook, secret: PLANTED, makeDefault: false });
  await operations.addDomain({ name: 'example.org', algorithm: 'both', selector: null });
  const { secret } = await operations.createKey({ ...PLAIN_KEY, name: 'app' });
  const answered: string[] = [];
  for (const name of OPERATION_NAMES.filter((one) => !GIVES_SECRET.includes(one) && one !== 'doctor')) {
    const request = REQUESTS[name] ?? {};
    const answer = await door.call(COMMAND_LINE, name, request).then(
      (result) => {
        answered.push(name);
        return JSON.stringify(result) ?? '';
      },
      (error: Error) => error.message,
    );
    for (const hidden of [PLANTED, secret, 'PRIVATE KEY']) expect(answer, name).not.toContain(hidden);
  }
  expect(answered).toEqual(
    expect.arrayContaining(['relays', 'relay', 'updateRelay', 'settings', 'listKeys']),
  );
  const { entries } = await operations.activity({
    actor: null,
    action: null,
    subject: null,
    limit: 200,
    before: null,
  });
  expect(entries.length).toBeGreaterThan(15);
  for (const hidden of [PLANTED, secret, 'PRIVATE KEY'])
    expect(JSON.stringify(entries)).not.toContain(hidden);
});

test('answers that are asked for nowhere else have the shape of their records', async () => {
  const { operations } = opened;
  const { id } = await operations.submit({ message });
  expect(await operations.messagePreview({ id })).toMatchObject({ subject: 's', attachments: [] });
  expect(await operations.messageDraft({ id })).toMatchObject({ message: { subject: 's' } });
  expect(await operations.checkMessage({ message })).toMatchObject({ dryRun: true, captured: true });
  const checked = await operations.preflight({ id });
  expect(checked.findings).toEqual([]);
  const draft = { from: '', subject: '', html: null, text: 'Hello' };
  expect(await operations.preflight({ draft })).toMatchObject({ findings: [{ code: 'subject-empty' }] });
  const query: [string, string][] = [
    ['from', 'a@example.com'],
    ['to', 'b@example.net'],
  ];
  expect(await operations.explainRoute({ query })).toMatchObject({ relay: 'inbox' });
  expect(await operations.decideRestored({ act: 'cancel' })).toEqual({ act: 'cancel', recipients: 0 });
  const { name } = await operations.backup({ file: null, passphrase: null });
  expect(await operations.removeBackup({ name })).toMatchObject({ name, verified: true });
  const before = await operations.routeTable({ version: null });
  await operations.publishRoutes({ routes: [{ name: 'all', match: {}, via: ['inbox'] }] });
  expect(await operations.rollbackRoutes({ version: before.version })).toMatchObject({ rules: [] });
});
