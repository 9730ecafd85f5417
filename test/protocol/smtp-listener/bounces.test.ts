import { afterEach, describe, expect, test } from 'vitest';
import { TAKEN } from '../../support/bounce-mail.ts';
import {
  ABOUT,
  DOMAIN,
  DSN,
  leavePath,
  returning,
  returnPath,
  send,
  startWithBounces,
} from './bounce-world.ts';
import type { SmtpWorld } from './world.ts';

/** Mail to a bounce domain over real sockets (contract-2 §A3): from anybody, to what cannot be guessed, and never on. */

let world: SmtpWorld;
afterEach(() => world.close());

async function start(options: Parameters<typeof startWithBounces>[0] = {}): Promise<void> {
  world = await startWithBounces(options);
}

/** What the newest report tells, in short. */
function told() {
  const report = world.desk.reports.at(-1);
  return report?.items.map(({ feedback: { kind, source, recipient, message, bounce } }) => ({
    kind,
    source,
    recipient,
    token: message.token,
    code: bounce.code,
  }));
}

describe('a stranger', () => {
  test('brings a bounce to a return path, which is told, kept as it came, and never queued', async () => {
    await start();
    const client = await world.hello();
    expect(await send(client, [returnPath()])).toMatch(TAKEN);
    expect(told()).toEqual([
      { kind: 'bounce', source: 'dsn', recipient: 'ann@example.org', token: ABOUT, code: 550 },
    ]);
    const [report] = world.desk.reports;
    expect(report).toMatchObject({
      source: 'dsn',
      mayBeEarly: false,
      evidence: { contentType: 'message/rfc822' },
    });
    const text = Buffer.from(report?.evidence?.bytes ?? []).toString();
    expect(text).toMatch(
      /^Return-Path: <>\r\nX-Original-To: <b-\w{40}@bounces\.example\.com>\r\nReceived: from client\.test/,
    );
    expect(text).toContain(`\r\n${DSN.join('\r\n')}\r\n`);
    expect(world.intake.submissions).toEqual([]);
    expect(world.denied).toEqual([]);
    await client.ask('QUIT');
    await world.expectNothingLeft();
  });

  test('may write a return path, and its domain, in whatever case', async () => {
    await start();
    const client = await world.hello();
    expect(await send(client, [returnPath().toUpperCase()])).toMatch(TAKEN);
    expect(told()).toMatchObject([{ token: ABOUT }]);
  });

  test('may come over TLS, to the port for it, and in chunks', async () => {
    await start();
    const client = await world.reach({ implicitTls: true });
    await world.passing(client.reply());
    await client.ask('EHLO mx.example.net');
    const text = `${DSN.join('\r\n')}\r\n`;
    await client.askAll('MAIL FROM:<>', `RCPT TO:<${returnPath()}>`);
    client.write(`BDAT ${text.length} LAST\r\n${text}`);
    expect(await client.reply()).toMatch(TAKEN);
  });

  test.each([
    ['a forged token', () => returnPath(ABOUT, 'others')],
    [
      'a token with one letter changed',
      () => returnPath().replace(/^b-(.)/, (_, a) => `b-${a === '0' ? '1' : '0'}`),
    ],
    ['the token of an unsubscription as a return path', () => leavePath().replace(/^u-/, 'b-')],
    ['a return path as an unsubscription', () => returnPath().replace(/^b-/, 'u-')],
    ['a token in quotes', () => returnPath().replace(/^(.*)@/, '"$1x"@')],
    ['a name that nobody has', () => `info@${DOMAIN}`],
    ['our own reports’ name', () => `mailer-daemon@${DOMAIN}`],
  ])('is told that nobody is there: %s', async (_, address) => {
    await start();
    const client = await world.hello();
    expect(await client.ask('MAIL FROM:<>')).toMatch(/^250 /);
    expect(await client.ask(`RCPT TO:<${address()}>`)).toMatch(/^550 5\.1\.1 /);
    expect(world.denied).toEqual(['unknown_bounce_address']);
    expect(world.seen).toContainEqual({ type: 'feedback', source: 'dsn', result: 'refused', count: 1 });
    expect(await client.ask('DATA')).toMatch(/^554 5\.5\.1 /);
    expect(await send(await world.hello(), [returnPath()])).toMatch(TAKEN);
  });

  test('is told the same of a return path that no longer counts', async () => {
    await start();
    world.desk.expired.add(`${ABOUT.id} ${ABOUT.recipient}`);
    const client = await world.hello();
    expect(await send(client, [returnPath()])).toMatch(/^550 5\.1\.1 /);
    await client.ask('RSET');
    expect(await send(client, [returnPath({ ...ABOUT, recipient: null })])).toMatch(TAKEN);
  });

  test.each([
    [`ann%example.org@${DOMAIN}`, /^550 5\.1\.1 /],
    [`"ann@example.org"@${DOMAIN}`, /^553 5\.1\.3 /],
    [`example.org!ann@${DOMAIN}`, /^550 5\.1\.1 /],
    [`@${DOMAIN}:ann@example.org`, /^550 5\.7\.1 /],
    [`b-${'0'.repeat(40)}@${DOMAIN}`, /^550 5\.1\.1 /],
    [`ann@example.org@${DOMAIN}`, /^501 5\.1\.3 /],
    [`ann@${DOMAIN}.example.org`, /^550 5\.7\.1 /],
  ])('gets nothing through by a trick: <%s>', async (address, refused) => {
    await start();
    const client = await world.hello();
    expect(await send(client, [address], DSN, 'a@example.net')).toMatch(refused);
    expect(world.intake.submissions).toEqual([]);
    expect(world.desk.reports).toEqual([]);
  });

  test.each([
    ['the sender’s own domain', 'ann@example.com'],
    ['a subdomain of the bounce domain', `postmaster@x.${DOMAIN}`],
    ['its parent', 'postmaster@example.com'],
  ])('may send nothing else: to %s', async (_, address) => {
    await start();
    const client = await world.hello();
    expect(await send(client, [address], DSN, 'a@example.net')).toMatch(
      /^550 5\.7\.1 127\.0\.0\.1 may not relay here/,
    );
    expect(world.denied).toEqual(['relay_not_allowed']);
  });

  test.each(['fbl', 'abuse', 'postmaster', 'PostMaster'])(
    'reaches %s@, whose mail is kept as it came',
    async (name) => {
      await start();
      const client = await world.hello();
      const lines = ['From: ann@example.org', 'Subject: Your mail', '', 'I have a question.'];
      expect(await send(client, [`${name}@${DOMAIN}`], lines, 'ann@example.org')).toMatch(TAKEN);
      expect(world.desk.reports).toMatchObject([{ source: 'dsn', items: [] }]);
      expect(Buffer.from(world.desk.reports[0]?.evidence?.bytes ?? []).toString()).toContain(
        'I have a question.',
      );
    },
  );

  test.each(['postmaster', 'abuse', 'fbl'])(
    'says that mail bounced, to %s@, only with the return path: a Message-ID may be known to anybody',
    async (name) => {
      await start();
      const client = await world.hello();
      const to = [`${name}@${DOMAIN}`];
      expect(await send(client, to, returning('Message-ID: <1@example.com>'))).toMatch(TAKEN);
      expect(world.desk.reports).toMatchObject([{ source: 'dsn', items: [] }]);
      const both = returning(`Return-Path: <${returnPath()}>`, 'Message-ID: <1@example.com>');
      expect(await send(client, to, both)).toMatch(TAKEN);
      const message = { token: ABOUT, id: null, providerMessageId: null, messageId: null };
      expect(world.desk.reports[1]).toMatchObject({ items: [{ feedback: { kind: 'bounce', message } }] });
    },
  );

  test('says nothing of another message than that of the return path, which may be recorded no longer', async () => {
    await start();
    expect(await send(await world.hello(), [returnPath()], returning('Message-ID: <1@example.com>'))).toMatch(
      TAKEN,
    );
    expect(world.desk.reports[0]?.items.map(({ feedback }) => feedback.message)).toEqual([
      { token: ABOUT, id: null, providerMessageId: null, messageId: null },
    ]);
  });

  test('brings a complaint to fbl@, found by the return path in it', async () => {
    await start();
    const lines = [
      'From: fbl@provider.example',
      'Content-Type: multipart/report; report-type=feedback-report; boundary="b"',
      '',
      '--b',
      'Content-Type: message/feedback-report',
      '',
      'Feedback-Type: abuse',
      'User-Agent: x/1',
      'Version: 1',
      `Original-Mail-From: <${returnPath()}>`,
      '',
      '--b--',
    ];
    // Also to return paths: it is one complaint.
    const to = [`fbl@${DOMAIN}`, returnPath(), returnPath({ ...ABOUT, recipient: 3 })];
    expect(await send(await world.hello(), to, lines, 'fbl@provider.example')).toMatch(TAKEN);
    expect(world.desk.reports.at(-1)?.source).toBe('arf');
    expect(told()).toEqual([{ kind: 'complaint', source: 'arf', recipient: null, token: ABOUT, code: null }]);
  });

  test('leaves by mail to an address for it, whatever the mail says', async () => {
    await start();
    expect(await send(await world.hello(), [leavePath()], ['', ''], 'ann@example.org')).toMatch(TAKEN);
    expect(world.desk.reports.at(-1)?.source).toBe('mailto');
    expect(told()).toEqual([
      { kind: 'unsubscribe', source: 'mailto', recipient: null, token: ABOUT, code: null },
    ]);
  });

  test('brings what nobody can read: it is kept, and tells nothing', async () => {
    await start();
    expect(await send(await world.hello(), [returnPath()], ['', 'Moin.'], 'ann@example.org')).toMatch(TAKEN);
    expect(world.desk.reports).toMatchObject([{ items: [] }]);
  });

  test('brings one bounce to several return paths, each of which is told once', async () => {
    await start();
    const other = { ...ABOUT, recipient: 3 };
    const to = [returnPath(), returnPath(other), returnPath().toUpperCase(), `postmaster@${DOMAIN}`];
    expect(await send(await world.hello(), to)).toMatch(TAKEN);
    expect(told()?.map(({ token }) => token)).toEqual([ABOUT, other]);
  });
});

describe('limits', () => {
  test('a 250 comes only once what was told is on disk', async () => {
    await start();
    const { promise, resolve } = Promise.withResolvers<void>();
    world.desk.held = promise;
    const client = await world.hello();
    const reply = send(client, [returnPath()]);
    await world.until(() => world.desk.reports.length === 1);
    // What is said later is answered first.
    expect(await (await world.hello()).ask('NOOP')).toMatch(/^250 /);
    expect(await Promise.race([reply, 'none yet'])).toBe('none yet');
    resolve();
    expect(await reply).toMatch(TAKEN);
  });

  test('while the store cannot be used, it is to be sent again', async () => {
    await start();
    const client = await world.hello();
    world.desk.failure = 'store_unavailable';
    await client.ask('MAIL FROM:<>');
    expect(await client.ask(`RCPT TO:<${returnPath()}>`)).toMatch(/^451 4\.3\.0 /);
    world.desk.failure = null;
    await client.askAll(`RCPT TO:<${returnPath()}>`, 'DATA');
    world.desk.failure = 'store_full';
    client.say(...DSN, '.');
    expect(await client.reply()).toMatch(/^451 4\.3\.0 /);
    world.desk.failure = null;
    expect(await send(client, [returnPath()])).toMatch(TAKEN);
  });

  test('a message above the limit is refused, and its memory given back', async () => {
    await start();
    const client = await world.hello();
    await client.ask('MAIL FROM:<> SIZE=100001');
    const tooLarge = /^552 5\.3\.4 A bounce may have at most 100000 bytes here/;
    expect(await client.ask(`RCPT TO:<${returnPath()}>`)).toMatch(tooLarge);
    await client.ask('RSET');
    const line = 'x'.repeat(900);
    expect(await send(client, [returnPath()], [...DSN, ...Array.from({ length: 120 }, () => line)])).toMatch(
      tooLarge,
    );
    expect(world.bytesInFlight).toBe(0);
    expect(world.desk.reports).toEqual([]);
    expect(await send(client, [returnPath()], [...DSN, line])).toMatch(TAKEN);
  });

  test('at most the beginning is kept', async () => {
    await start();
    const lines = [...DSN, ...Array.from({ length: 90 }, () => 'x'.repeat(900))];
    expect(await send(await world.hello(), [returnPath()], lines)).toMatch(TAKEN);
    expect(world.desk.reports[0]?.evidence?.bytes).toHaveLength(64 * 1024);
    expect(told()).toMatchObject([{ kind: 'bounce' }]);
  });

  test('of mail to what everybody knows only the beginning is read', async () => {
    await start({ bounces: { maxMessageBytes: 1_000_000 } });
    const filler = Array.from({ length: 300 }, () => 'x'.repeat(900));
    const [head, body] = [DSN.slice(0, 5), DSN.slice(5)];
    const late = [`To: <${returnPath()}>`, ...head, ...filler, ...body];
    expect(await send(await world.hello(), [`postmaster@${DOMAIN}`], late)).toMatch(TAKEN);
    expect(told()).toEqual([]);
    expect(await send(await world.hello(), [returnPath()], late)).toMatch(TAKEN);
    expect(told()).toMatchObject([{ kind: 'bounce' }]);
  });

  test('a report in a report in a report ends in a limit', async () => {
    await start({ bounces: { maxMessageBytes: 1_000_000 } });
    const nested = (level: number): string[] => [
      `Content-Type: multipart/report; report-type=delivery-status; boundary="b${level}"`,
      '',
      `--b${level}`,
      'Content-Type: message/rfc822',
      '',
      ...(level === 0 ? [] : nested(level - 1)),
    ];
    expect(await send(await world.hello(), [returnPath()], nested(5000))).toMatch(TAKEN);
    expect(world.desk.reports).toHaveLength(1);
  });

  test('more than 20 recipients wait for another transaction', async () => {
    await start();
    const client = await world.hello();
    await client.ask('MAIL FROM:<>');
    const to = (recipient: number) => client.ask(`RCPT TO:<${returnPath({ ...ABOUT, recipient })}>`);
    for (let recipient = 0; recipient < 20; recipient++) expect(await to(recipient)).toMatch(/^250 /);
    expect(await to(20)).toMatch(/^452 4\.5\.3 At most 20 recipients/);
    await client.ask('DATA');
    client.say(...DSN, '.');
    expect(await client.reply()).toMatch(TAKEN);
    expect(told()).toHaveLength(20);
  });

  test('each source has so many a minute, however many recipients and sessions', async () => {
    await start({ bounces: { ratePerSource: 2 } });
    const client = await world.hello();
    const both = [returnPath(), returnPath({ ...ABOUT, recipient: 1 })];
    expect(await send(client, both)).toMatch(TAKEN);
    expect(await send(await world.hello(), both)).toMatch(TAKEN);
    expect(await send(client, both)).toMatch(
      /^451 4\.7\.1 127\.0\.0\.1 may send 2 bounces a minute; try again in \d+ seconds/,
    );
    expect(await client.ask(`RCPT TO:<${returnPath()}>`)).toMatch(/^451 4\.7\.1 /);
    expect(await client.ask('DATA')).toMatch(/^554 /);
    expect(world.denied).toEqual(['rate_limited', 'rate_limited']);
    expect(await send(await world.hello({ from: '127.0.0.2' }), both)).toMatch(TAKEN);
  });

  test('a queue that is full is nothing to it, a full disk is', async () => {
    await start();
    world.intake.suspension = { code: 'queue_limit', detail: 'The queue is full.', retryAfterSeconds: 1 };
    expect(await send(await world.hello(), [returnPath()])).toMatch(TAKEN);
    world.intake.suspension = { code: 'disk_full', detail: 'The disk is full.', retryAfterSeconds: 1 };
    expect(await send(await world.hello(), [returnPath()])).toMatch(/^452 4\.3\.1 /);
  });
});
