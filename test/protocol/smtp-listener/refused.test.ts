import { afterEach, expect, test } from 'vitest';
import { MAX_TOLD } from '../../../src/ingest/smtp/denials.ts';
import { cidrs } from '../../support/cidrs.ts';
import { beginData, ENVELOPE, SmtpWorld, sendMessage } from './world.ts';

/** A message that is refused for what it is has one line in the log, as a request to the API has (contract §16). */

let world: SmtpWorld;
afterEach(() => world.close());

/** The lines about refused messages, and about refusals of every other kind. */
function lines(event = 'message.refused') {
  return world.lines.filter((line) => line.event === event).map(({ fields }) => fields);
}

/** Calls the test's own address a printer. */
function nameSource(senderDomains: readonly string[]): void {
  const source = { name: 'printer', cidr: '127.0.0.1', senderDomains, ratePerMinute: 0, tags: [] };
  world.options.sources = [{ source, cidrs: cidrs('127.0.0.1') }];
}

const PLAIN = { source: '127.0.0.1', count: 1, requestId: expect.any(String) };

test.each([
  ['bare_newline', '550 5.6.11', ['a\nb', '.']],
  ['nul', '550 5.6.11', ['a\0b', '.']],
  ['line_too_long', '550 5.6.0', ['x'.repeat(999), '.']],
  ['message_too_large', '552 5.3.4', [...Array.from({ length: 300 }, () => 'x'.repeat(900)), '.']],
  ['mail_loop', '554 5.4.6', [...Array.from({ length: 51 }, () => 'Received: by x'), '', '.']],
  [
    'header_too_large',
    '552 5.3.4',
    [...Array.from({ length: 280 }, (_, i) => `X-${i}: ${'x'.repeat(950)}`), '', '.'],
  ],
])('%s is one line with its reply', async (code, reply, content) => {
  world = await SmtpWorld.start();
  world.options.limits.maxMessageBytes = code === 'message_too_large' ? 100_000 : 1_000_000;
  expect(await sendMessage(await world.hello(), content)).toContain(`${reply} `);
  expect(lines()).toEqual([{ ...PLAIN, code, reply }]);
  expect(world.denied).toEqual([]);
});

test('a SIZE that is too large, and a faulty instruction, are told with whose message it was', async () => {
  world = await SmtpWorld.start();
  nameSource([]);
  const client = await world.hello();
  expect(await client.ask('MAIL FROM:<a@example.com> SIZE=99999999999')).toMatch(/^552 /);
  expect(await sendMessage(client, ['X-Waybill-Foo: a', '', '.'])).toMatch(/^550 5\.6\.0 /);
  const printer = { ...PLAIN, keyId: 'source:printer' };
  expect(lines()).toEqual([
    { ...printer, code: 'message_too_large', reply: '552 5.3.4' },
    { ...printer, code: 'header_instruction', reply: '550 5.6.0' },
  ]);
});

test('what finds no room is told with the reason', async () => {
  world = await SmtpWorld.start();
  const client = await world.hello();
  world.intake.suspension = { code: 'disk_full', detail: 'No room now.', retryAfterSeconds: 1 };
  expect(await client.ask(ENVELOPE[0] ?? '')).toBe('452 4.3.1 No room now; try again later');
  expect(lines()).toEqual([{ ...PLAIN, code: 'disk_full', reply: '452 4.3.1' }]);
});

test('a message whose rest does not come, or comes too slowly, is told', async () => {
  world = await SmtpWorld.start({ settings: { minDataBytesPerSecond: 0, dataTimeoutSeconds: 20 } });
  const silent = await world.inData();
  expect(await world.passing(silent.rest())).toMatch(/^421 4\.4\.2 /);
  world.options.settings.minDataBytesPerSecond = 100;
  const slow = await world.inData();
  expect(await world.passing(slow.rest())).toMatch(/^421 4\.4\.2 /);
  expect(lines()).toEqual([
    { ...PLAIN, code: 'time_out', reply: '421 4.4.2' },
    { ...PLAIN, code: 'too_slow', reply: '421 4.4.2' },
  ]);
});

test('a session that says nothing more without a message is not told as one', async () => {
  world = await SmtpWorld.start();
  const client = await world.hello();
  await client.askAll(...ENVELOPE);
  expect(await world.passing(client.rest())).toMatch(/^421 4\.4\.2 /);
  expect(lines()).toEqual([]);
});

test('a source that repeats its refused messages is told in sums', async () => {
  world = await SmtpWorld.start({ settings: { softErrors: 1000, hardErrors: 1000 } });
  const client = await world.hello();
  for (let count = 0; count < MAX_TOLD + 5; count++) {
    await beginData(client);
    client.say('a\nb', '.');
    expect(await client.reply()).toMatch(/^550 5\.6\.11 /);
  }
  expect(lines()).toHaveLength(MAX_TOLD);
  await world.clock.advance(10_000);
  expect(lines().at(-1)).toEqual({
    code: 'bare_newline',
    reply: '550 5.6.11',
    source: '127.0.0.1',
    count: 5,
  });
});

test('who is denied something is told with his key, or the name of his source', async () => {
  world = await SmtpWorld.start();
  nameSource(['example.org']);
  expect(await (await world.hello()).ask(ENVELOPE[0] ?? '')).toMatch(/^550 5\.7\.1 /);
  const client = await world.secured();
  for (const [id, facts] of [
    ['key_reader', { scopes: ['messages:read'] }],
    ['key_revoked', { revokedAt: 0 }],
    ['key_bound', { senderDomains: ['example.net'] }],
  ] as const) {
    const secret = await world.key({ id, ...facts });
    client.say(`AUTH PLAIN ${Buffer.from(`\0u\0${secret}`).toString('base64')}`);
    await world.passing(client.reply());
  }
  expect(await client.ask(ENVELOPE[0] ?? '')).toMatch(/^550 5\.7\.1 /);
  expect(lines('source.denied').map(({ code, keyId }) => [code, keyId])).toEqual([
    ['sender_not_allowed', 'source:printer'],
    ['scope_missing', 'key_reader'],
    ['auth_revoked', 'key_revoked'],
    ['sender_not_allowed', 'key_bound'],
  ]);
});
