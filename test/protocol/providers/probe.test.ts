/** What `relays test` tells of a provider: only who says that the key is bad is told as saying so. */
import { createServer } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import { probeProvider } from '../../../src/transport/providers/probe.ts';
import type { ProbeStep } from '../../../src/transport/transport.ts';
import { type ApiAct, answerJson } from '../../peers/provider-api.ts';
import { only } from '../smtp-out/rig.ts';
import { type ProviderRig, type RigSettings, SECRET, SETTINGS, startProvider } from './rig.ts';

const REDIRECT = { location: 'http://10.0.0.1:81/login?session=1f0c8e' };
const PAGE: ApiAct = { kind: 'answer', status: 200, body: '<html>hi' };
const REDIRECTED: ApiAct = { kind: 'answer', status: 302, headers: REDIRECT };
const BAD_KEY = /token is wrong|key is (?:wrong|not)|refuses the|credentials are/i;

async function stepsOf({ relay, clock }: ProviderRig): Promise<ProbeStep[]> {
  const steps: ProbeStep[] = [];
  if (!relay.provider) throw new Error('no provider');
  for await (const step of probeProvider(relay.provider, { clock }, new AbortController().signal))
    steps.push(step);
  return steps;
}

/** The last step of a probe that is answered so. */
async function lastOf(settings: RigSettings, act: ApiAct): Promise<ProbeStep | undefined> {
  const rig = await startProvider(settings);
  rig.api.script.push(act);
  return (await stepsOf(rig)).at(-1);
}

describe.each(['ses', 'mailgun', 'postmark', 'sendgrid', 'resend'] as const)('%s', (type) => {
  test.each([
    [answerJson(429, {}, { 'retry-after': '600' }), /^429 .*; it asks to wait 600 s$/, 'provider_429'],
    [answerJson(500, {}), /^500 /, 'provider_500'],
    [PAGE, /^200 OK: not an answer of this provider.*correct endpoint/, 'provider_bad_answer'],
    [answerJson(200, { ok: true }), /^200 OK: not an answer of this provider/, 'provider_bad_answer'],
    [
      REDIRECTED,
      /^302 Found to http:\/\/10\.0\.0\.1:81\/login \(means: A redirect, .* not followed: correct endpoint\)$/,
      'provider_302',
    ],
  ])('%j says nothing of the key', async (act, detail, code) => {
    const last = await lastOf(SETTINGS[type], act);
    expect(last).toMatchObject({ name: 'CHECK', ok: false, code, detail: expect.stringMatching(detail) });
    expect(last?.detail).not.toMatch(BAD_KEY);
  });
});

test.each([
  ['mailgun', 400, '<html>Bad Request'],
  ['resend', 401, '<html>Unauthorized'],
] as const)('%s: a page with status %i is not what was asked for', async (type, status, body) => {
  expect(await lastOf(SETTINGS[type], { kind: 'answer', status, body })).toMatchObject({ ok: false });
});

test.each([
  ['postmark', 401, { ErrorCode: 10, Message: 'No such token.' }, /No such token.*server token is wrong/],
  ['sendgrid', 401, { errors: [{ message: 'Denied' }] }, /Denied.*API key is wrong/],
  ['resend', 403, { name: 'invalid_api_key', message: 'No.' }, /No.*API key is wrong/],
  [
    'resend',
    429,
    { name: 'daily_quota_exceeded', message: 'All sent.' },
    /^429 daily_quota_exceeded: All sent/,
  ],
] as const)('%s, %i: the words of the provider, and of its table', async (type, status, body, detail) => {
  expect((await lastOf(SETTINGS[type], answerJson(status, body)))?.detail).toMatch(detail);
});

test('who can send is called by name', async () => {
  const last = await lastOf(SETTINGS.postmark, answerJson(200, { ID: 1, Name: 'Shop' }));
  expect(last).toEqual({
    name: 'READY',
    ok: true,
    detail: 'Postmark (127.0.0.1) is ready for mail',
    atMs: 0,
  });
});

test('an account at SES is told with its sandbox and its quota', async () => {
  const rig = await startProvider(SETTINGS.ses);
  const account = { SendingEnabled: true, ProductionAccessEnabled: false, EnforcementStatus: 'PROBATION' };
  rig.api.script.push(
    answerJson(200, { ...account, SendQuota: { Max24HourSend: 200, SentLast24Hours: 12, MaxSendRate: 1 } }),
  );
  expect((await stepsOf(rig)).find(({ name }) => name === 'CHECK')?.detail).toBe(
    'sending is enabled for the account; it is under review; it is in the sandbox: it sends only to verified recipients; 12 of 200 sent in the last 24 hours',
  );
});

test('a port without TLS is told as one, without the words of a library', async () => {
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.end('220 mail.example ESMTP\r\n');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  const rig = await startProvider({ ...SETTINGS.resend, endpoint: `https://127.0.0.1:${port}` });
  expect((await stepsOf(rig)).at(-1)).toMatchObject({
    name: 'tls_failed',
    code: 'tls_failed',
    ok: false,
    detail: '127.0.0.1 does not use TLS on this port: correct the port',
  });
});

describe('what is kept of an attempt', () => {
  test.each([
    ['webhook', REDIRECTED, /^302 Found to http:\/\/10\.0\.0\.1:81\/login \(.*correct url\)$/],
    ['webhook', { kind: 'answer', status: 302 }, /^302 Found \(means: A redirect/],
    ['webhook', { kind: 'answer', status: 307, headers: { location: '/b?c' } }, /Redirect to \/b \(means/],
    ['mailgun', { kind: 'answer', status: 401, body: 'Forbidden' }, /^Forbidden \(means: The key is wrong/],
    ['mailgun', answerJson(200, {}), /^An unreadable answer$/],
    ['ses', answerJson(429, {}), /^429 Too Many Requests$/],
    ['webhook', answerJson(422, { detail: 'Unknown.' }), /^Unknown\.$/],
  ] as const)('%s: %j', async (type, act, text) => {
    const rig = await startProvider(SETTINGS[type]);
    rig.api.script.push(act);
    expect(only(await rig.deliver()).text).toMatch(text);
  });

  test('a redirect that gives a secret back shows nothing of it, cut or not', async () => {
    const rig = await startProvider(SETTINGS.mailgun);
    const headers = { location: `/${'x'.repeat(190)}${SECRET}` };
    rig.api.script.push({ kind: 'answer', status: 302, headers });
    expect(only(await rig.deliver()).text).toMatch(/^302 Found to \/x{190}… \(means: /);
  });

  test('however long the words, the note is whole and the text bounded', async () => {
    const rig = await startProvider(SETTINGS.mailgun);
    rig.api.script.push({ kind: 'answer', status: 401, body: 'Forbidden '.repeat(500) });
    const { text } = only(await rig.deliver());
    expect(text).toHaveLength(1000);
    expect(text).toMatch(/ \(means: The key is wrong, or belongs to another region\)$/);
  });
});
