import { writeFileSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { Installation } from '../../test/support/installation.ts';
import { withAndWithoutServer } from '../../test/support/with-server.ts';
import { type Clock, systemClock } from '../lib/clock.ts';
import { inspectSecret } from '../lib/id.ts';

let here: Installation;
beforeEach(() => {
  here = new Installation();
});
afterEach(() => here.remove());

const LETTER = ['--from', 'a@example.org', '--to', 'b@example.net', '--subject', 'Hé', '--text', 'hi'];
const RELAY = ['relays', 'add', 'out', '--type', 'smtp', '--host', '127.0.0.1', '--tls', 'none'];

withAndWithoutServer(
  () => here,
  () => {
    test('keys are created, listed, rotated and revoked', async () => {
      const quiet = await here.waybill(['keys', 'create', 'shop', '--quiet', '--rate', '5']);
      expect(quiet.status).toBe(0);
      expect(inspectSecret(quiet.out.trimEnd())).toBe('well_formed');
      expect(quiet.out.startsWith('wb_live_')).toBe(true);

      const again = await here.waybill(['keys', 'create', 'shop']);
      expect([again.status, again.out]).toEqual([1, '']);
      expect(again.err).toContain('waybill keys rotate shop');

      const { key, secret } = await here.json([
        'keys',
        'create',
        'tests',
        '--test',
        '--scope',
        'messages:read',
      ]);
      expect(key).toMatchObject({ name: 'tests', mode: 'test', scopes: ['messages:read'], rateLimit: null });
      expect(secret).toMatch(/^wb_test_/);

      const rotated = await here.json(['keys', 'rotate', key.id]);
      expect(rotated.secret).not.toBe(secret);
      expect(rotated.oldSecretUntil).toMatch(/^\d{4}-.*Z$/);
      const revoked = await here.json(['keys', 'revoke', 'shop']);
      expect(revoked.revokedAt).toMatch(/^\d{4}-.*Z$/);
      expect((await here.waybill(['keys', 'revoke', 'shop'])).err).toContain('already revoked');
      expect((await here.waybill(['keys', 'rotate', 'nobody'])).err).toContain('waybill keys list');

      const list = await here.waybill(['keys', 'list']);
      expect(list.out).toMatch(/shop +wb_live_\w+… +revoked/);
      expect(list.out).toMatch(/NAME.* RATE +KEEPS/);
      expect(list.out).not.toContain(secret);
    });

    test('a key may end by itself, and be bound to source ranges and sender domains', async () => {
      const create = ['keys', 'create', 'partner'];
      const bounds = ['--cidr', '192.0.2.0/24', '--cidr', '::1', '--sender-domain', 'Shop.Example'];
      const { key } = await here.json([...create, ...bounds, '--expires', '2999-01-31T12:00:00+01:00']);
      const bound = { cidrs: ['192.0.2.0/24', '::1'], senderDomains: ['shop.example'] };
      expect(key).toMatchObject({ ...bound, expiresAt: '2999-01-31T11:00:00.000Z' });
      expect(await here.json(['keys', 'list'])).toMatchObject([bound]);
      expect((await here.waybill(['keys', 'list'])).out).toContain('192.0.2.0/24 ::1  shop.example');

      const clock = { ...systemClock, wall: () => Date.UTC(2990, 0, 1) };
      const inDays = ['keys', 'create', 'brief', '--expires', '90d', '--json'];
      const { out } = await here.waybill(inDays, { clock });
      expect(JSON.parse(out).key.expiresAt).toBe('2990-04-01T00:00:00.000Z');

      for (const [option, wrong, reason] of [
        ['--expires', '2020-01-01T00:00:00Z', 'already have expired'],
        ['--expires', 'soon', 'such as 90d'],
        ['--expires', '2027-31-01', 'RFC 3339'],
        ['--cidr', '10.1.2.3/8', 'bits set'],
        ['--sender-domain', 'a b', 'not a domain name'],
      ] as const) {
        const { status, out, err } = await here.waybill(['keys', 'create', 'wrong', option, wrong]);
        expect([status, out, err]).toEqual([2, '', expect.stringContaining(reason)]);
      }
    });

    test('a message is sent, shown and listed', async () => {
      const attachment = join(here.folder, 'note.txt');
      writeFileSync(attachment, 'attached');
      const { id } = await here.json(['send', ...LETTER, '--cc', 'c@example.net', '--attach', attachment]);
      const record = await here.json(['messages', 'show', id]);
      expect(record).toMatchObject({
        id,
        status: 'queued',
        subject: 'Hé',
        source: 'cli',
        cc: ['c@example.net'],
      });
      expect(record.recipients).toHaveLength(2);
      // What looks like an id would be looked for, and is none.
      expect(record.messageId).toMatch(/^<[0-9a-z]{26}@/);
      const { id: second } = await here.json(['send', ...LETTER]);
      const page = await here.json(['messages', 'list', '--limit', '1']);
      expect([page.messages[0].id, page.next]).toEqual([second, second]);
      expect((await here.json(['messages', 'list', '--before', second])).messages[0].id).toBe(id);
      expect((await here.json(['messages', 'list', '--status', 'failed'])).messages).toEqual([]);
      expect((await here.waybill(['messages', 'list'])).out).toMatch(
        /ID +STATUS +CREATED +FROM +TO +SUBJECT\nmsg_/,
      );
      expect((await here.waybill(['messages', 'show', id])).out).toContain('RECIPIENT');
      expect((await here.waybill(['messages', 'show', 'msg_none'])).status).toBe(1);
    });

    test('acts on the queue tell how much they did, of one thing as of one', async () => {
      await here.json(['send', ...LETTER]);
      const { out: meant } = await here.waybill(['queue', 'cancel', '--all', '--dry-run']);
      expect(meant).toBe('Matched: 1 message; nothing was done.\n');
      const { out: done } = await here.waybill(['queue', 'cancel', '--all']);
      expect(done).toBe('Cancelled: 1 message.\n');
      const { out: why } = await here.waybill(['queue', 'why', 'example.net']);
      expect(why).toBe('Nothing waits for example.net.\n');
      const { out: rerouted } = await here.waybill(['queue', 'reroute', '--all']);
      expect(rerouted).toBe('Rerouted: 0 recipients.\n');
    });

    test('a configuration file that is not there is told, also by whom it would not matter to', async () => {
      await here.json(['keys', 'create', 'shop']);
      const none = join(here.folder, 'none.yaml');
      const { status, err } = await here.waybill(['config', '--config', none]);
      expect([status, err]).toEqual([1, expect.stringMatching(/none\.yaml: .*there is no such file/)]);
    });

    test('a file that is not there is told in words', async () => {
      const none = join(here.folder, 'none.txt');
      const { status, err } = await here.waybill(['send', ...LETTER, '--attach', none]);
      expect([status, err]).toEqual([1, `Nothing was sent: ${none} cannot be read: there is no such file\n`]);
    });

    test('what is wrong with a message is told by field, with status 2', async () => {
      const { status, err } = await here.waybill([
        'send',
        '--from',
        'a@example.org',
        '--to',
        'b@',
        '--text',
        'x',
      ]);
      expect([status, err.split(':', 1)[0]]).toEqual([2, 'to/0']);
    });

    test('the first relay needs --default, and cannot go while mail waits for it', async () => {
      const undecided = await here.waybill(RELAY);
      expect(undecided.status).toBe(2);
      expect(undecided.err).toContain('--default');
      expect((await here.waybill([...RELAY, '--default'])).status).toBe(0);
      expect((await here.waybill([...RELAY, '--default'])).err).toContain('already');
      expect((await here.waybill(['relays', 'list'])).out).toMatch(
        /out \(default\) +smtp +127\.0\.0\.1:587 +none/,
      );

      await here.waybill(['relays', 'add', 'spare', '--type', 'smtp', '--host', '127.0.0.1']);
      expect((await here.waybill(['relays', 'remove', 'out'])).err).toContain('there are other relays');
      expect((await here.waybill(['relays', 'remove', 'spare'])).status).toBe(0);
      expect((await here.waybill(['relays', 'remove', 'out'])).status).toBe(0);
      expect((await here.waybill(['relays', 'list'])).out).toContain('inbox (default)');
      expect((await here.waybill(['relays', 'remove', 'inbox'])).err).toContain('built in');
      expect((await here.waybill(['relays', 'remove', 'none'])).err).toContain('no relay none');
    });

    test('a stored relay is disabled and enabled again; others are held back instead', async () => {
      await here.waybill([...RELAY, '--default']);
      expect(await here.json(['relays', 'disable', 'out'])).toMatchObject({
        name: 'out',
        disabled: true,
        changed: true,
        isDefault: true,
      });
      expect((await here.waybill(['relays', 'disable', 'out'])).out).toContain('already disabled');
      expect((await here.waybill(['relays', 'list'])).out).toMatch(/out \(default\).* disabled +0/);
      expect((await here.json(['queue'])).lanes).toContainEqual(
        expect.objectContaining({ lane: 'out', state: 'disabled' }),
      );
      expect(await here.json(['relays', 'enable', 'out'])).toMatchObject({ disabled: false, changed: true });
      expect((await here.waybill(['relays', 'enable', 'out'])).out).toContain('was not disabled');
      const inbox = await here.waybill(['relays', 'disable', 'inbox']);
      expect(inbox).toMatchObject({ status: 1, err: expect.stringContaining('waybill queue pause inbox') });
      expect((await here.waybill(['relays', 'disable', 'none'])).err).toContain('no relay none');
    });

    test('a password is kept sealed and shown nowhere', async () => {
      const file = join(here.folder, 'password');
      writeFileSync(file, 'hunter2\n');
      const added = [
        'relays',
        'add',
        'out',
        '--type',
        'smtp',
        '--host',
        'smtp.example.net',
        '--username',
        'u',
      ];
      await here.json([...added, '--password-file', file, '--default']);
      for (const args of [['relays', 'list'], ['config']]) {
        const { status, out } = await here.waybill([...args, '--json']);
        expect([status, out.includes('hunter2')]).toEqual([0, false]);
      }
      // Neither is it lost while the relay is disabled.
      for (const act of ['disable', 'enable']) await here.json(['relays', act, 'out']);
      const [, relay] = await here.json(['relays', 'list']);
      expect(relay).toMatchObject({ username: 'u', credentialsUnreadable: false });
      const { out } = await here.waybill(['config']);
      expect(out).toMatch(/relays\.out\.host +"smtp\.example\.net" +stored relay/);
      expect(out).toMatch(/relays\.out\.password +"\*{8}" +stored relay/);
      expect(out).toMatch(/relays\.inbox\.max_recipients +1000 +built in/);
    });

    test('config shows every setting and where it comes from', async () => {
      await here.waybill([...RELAY, '--default']);
      const settings = await here.json(['config']);
      expect(settings).toContainEqual({
        key: 'delivery.default_relay',
        value: 'out',
        source: 'stored setting',
        applies: 'live',
      });
      expect((await here.waybill(['config'])).out).toMatch(/api\.port +8025 +default/);
    });
  },
);

test('mail that waits for a relay keeps it', async () => {
  await here.waybill([...RELAY, '--default']);
  await here.waybill(['send', ...LETTER]);
  const { status, err } = await here.waybill(['relays', 'remove', 'out']);
  expect([status, err.includes('recipients: 1')]).toEqual([1, true]);
});

test('while no server runs, a message waits for it, and --wait sends nothing', async () => {
  const sent = await here.waybill(['send', ...LETTER]);
  expect(sent.out).toContain('delivery begins when it starts');
  const waiting = await here.waybill(['send', ...LETTER, '--wait']);
  expect([waiting.status, waiting.err.includes('waybill serve')]).toEqual([1, true]);
  expect((await here.json(['messages', 'list'])).messages).toHaveLength(1);
});

test('--wait gives up when the time is over, with status 1', async () => {
  let now = 0;
  const clock: Clock = {
    ...systemClock,
    mono: () => now,
    sleep: async (ms) => {
      now += ms;
    },
  };
  const server = await here.startServer();
  try {
    const { status, err } = await here.waybill(['send', ...LETTER, '--wait', '30'], { clock });
    expect([status, err, now]).toEqual([1, 'Not delivered: queued.\n', 30_000]);
  } finally {
    await server.close();
  }
});

test('a relay is tested step by step', async () => {
  const sink = await listen((socket) => {
    socket.write('220 sink.example ESMTP\r\n');
    socket.on('data', (data) =>
      socket.write(`${data}`.startsWith('QUIT') ? '221 bye\r\n' : '250 sink.example\r\n'),
    );
  });
  await here.waybill([...RELAY, '--port', String(sink.port), '--default']);
  const good = await here.waybill(['relays', 'test', 'out']);
  expect([good.status, good.out]).toEqual([0, expect.stringMatching(/ok .*CONNECT[\s\S]*EHLO[\s\S]*READY/)]);
  await sink.close();
  const refused = await here.waybill(['relays', 'test', 'out']);
  expect([refused.status, refused.out]).toEqual([1, expect.stringMatching(/^failed .*connect_refused/)]);
  expect(refused.err).toBe('The test failed: the relay out does not work.\n');
  expect((await here.waybill(['relays', 'test', 'inbox'])).status).toBe(0);
});

test('faults of the configuration stop a command, but not the one that mends them', async () => {
  const environment = { WAYBILL_DELIVERY__DEFAULT_RELAY: 'out' };
  const stopped = await here.waybill(['keys', 'create', 'shop'], { environment });
  expect([stopped.status, stopped.out]).toEqual([1, '']);
  expect(stopped.err).toContain('delivery.default_relay = "out": no such relay (environment');
  const shown = await here.waybill(['config'], { environment });
  expect([shown.status, shown.err]).toEqual([1, stopped.err]);
  expect(shown.out).toContain('delivery.default_relay');
});

test('wrong usage has status 2 and says where help is; help and version have status 0', async () => {
  for (const args of [
    ['frob'],
    ['keys', 'create'],
    ['keys', 'create', 'x', '--rate', 'many'],
    ['send'],
    ['keys'],
  ]) {
    const { status, out, err } = await here.waybill(args);
    expect([status, out, err.length > 0]).toEqual([2, '', true]);
  }
  expect((await here.waybill(['keys', 'frob'])).err).toContain('waybill keys --help');
  const mistyped = await here.waybill(['send', '--form', 'a@example.org', '--to', 'b@example.net']);
  expect([mistyped.status, mistyped.err]).toEqual([2, expect.stringContaining("unknown option '--form'")]);
  const missing = await here.waybill(['send', '--to', 'b@example.net']);
  expect([missing.status, missing.err]).toEqual([
    2,
    expect.stringContaining("'--from <mailbox>' not specified"),
  ]);
  for (const args of [['--help'], ['send', '--help'], ['relays', 'add', '--help']]) {
    const { status, out, err } = await here.waybill(args);
    expect([status, out.includes('waybill send') || out.includes('Examples:'), err]).toEqual([0, true, '']);
  }
  expect((await here.waybill(['--version'])).out).toMatch(/^\d+\.\d+\.\d+\n$/);
  for (const args of [
    ['--version', '--json'],
    ['--json', '--version'],
  ])
    expect(JSON.parse((await here.waybill(args)).out)).toEqual({ version: expect.stringMatching(/^\d+\./) });
});

test('where the installation is may be said before the command, and again after it', async () => {
  await here.waybill(['keys', 'create', 'shop']);
  const elsewhere = { environment: { WAYBILL_DATA: '/nowhere' } };
  const before = await here.waybill(['--data', here.dataDir, '--json', 'keys', 'list'], elsewhere);
  expect([before.err, JSON.parse(before.out)[0].name]).toEqual(['', 'shop']);
  const after = ['--data', '/nowhere', 'keys', 'list', '--data', here.dataDir];
  expect((await here.waybill(after, elsewhere)).out).toContain('shop');
});

test('a rotation tells until when the old secret works: 24 hours, or until the key ends', async () => {
  const clock = { ...systemClock, wall: () => Date.UTC(2990, 0, 1) };
  await here.waybill(['keys', 'create', 'shop'], { clock });
  const { out } = await here.waybill(['keys', 'rotate', 'shop'], { clock });
  expect(out).toContain('The old secret works until 2990-01-02T00:00:00.000Z');
  await here.waybill(['keys', 'create', 'brief', '--expires', '2990-01-01T06:00:00Z'], { clock });
  const brief = await here.waybill(['keys', 'rotate', 'brief'], { clock });
  expect(brief.out).toContain('until 2990-01-01T06:00:00.000Z');
  const quiet = await here.waybill(['keys', 'rotate', 'shop', '--quiet'], { clock });
  expect(inspectSecret(quiet.out.trimEnd())).toBe('well_formed');
});

test.each([
  [['queu'], 'queue'],
  [['queue', 'puase', 'out'], 'pause'],
  [['queue', 'retr', '--to', '@example.net'], 'retry'],
  [['queue', '--wacth'], '--watch'],
  [['--jsno'], '--json'],
  [['relays', 'lits'], 'list'],
  [['messages', 'list', '--satus', 'failed'], '--status'],
])('a mistyped word is answered with the nearest: %j', async (args, meant) => {
  const { status, err } = await here.waybill(args);
  expect([status, err]).toEqual([2, expect.stringContaining(`(Did you mean ${meant}?)`)]);
  expect(err).not.toContain('too many');
});

async function listen(
  serve: (socket: Socket) => void,
): Promise<{ readonly port: number; close(): Promise<void> }> {
  const server = createServer(serve);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  return {
    port: typeof address === 'object' && address !== null ? address.port : 0,
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}
