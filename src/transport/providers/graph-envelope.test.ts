import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Envelope, Recipient, RecipientKind } from '../../domain/message.ts';
import { graphSender } from './graph.ts';

function recipient(address: string, kind: RecipientKind = 'to'): Recipient {
  return { address, kind, notify: null, orcpt: null };
}

function envelope(recipients: readonly Recipient[], reversePath = 'jane@example.com'): Envelope {
  return { reversePath, recipients, ret: null, envid: null };
}

function mail(...fields: string[]): Buffer {
  return Buffer.from(`${fields.join('\r\n')}\r\n\r\nHello.\r\n`);
}

const FROM = 'From: Jane <jane@example.com>';
const BOB = recipient('bob@example.org');

describe('an envelope that the header says too', () => {
  test.each([
    ['one in To', [FROM, 'To: bob@example.org'], [BOB]],
    ['a name before it, a comment behind it', [FROM, 'To: "Bob, B." <bob@example.org> (Bob)'], [BOB]],
    ['letters in another case', ['From: JANE@Example.com', 'To: Bob@EXAMPLE.org'], [BOB]],
    [
      'some in Cc, folded over lines',
      [FROM, 'To: bob@example.org,', ' d@example.org', 'Cc: c@example.net'],
      [BOB, recipient('d@example.org'), recipient('c@example.net', 'cc')],
    ],
    [
      'two fields of a name',
      [FROM, 'To: bob@example.org', 'To: d@example.org'],
      [BOB, recipient('d@example.org')],
    ],
    [
      'blind copies that a Bcc names already',
      [FROM, 'Bcc: bob@example.org'],
      [recipient('bob@example.org', 'bcc')],
    ],
  ])('%s', (_, fields, recipients) => {
    expect(graphSender(envelope(recipients), mail(...fields))).toMatchObject({ ok: true, bcc: '' });
  });

  test('its From is the mailbox that sends, where none is set', () => {
    const sender = graphSender(
      envelope([BOB]),
      mail('From: =?utf-8?q?J=C3=A4n?= <jane@example.com>', 'To: bob@example.org'),
    );
    expect(sender).toEqual({ ok: true, from: 'jane@example.com', bcc: '' });
  });
});

describe('blind copies', () => {
  test('are told by a field of their own, for nobody else', () => {
    const recipients = [BOB, recipient('a@example.net', 'bcc'), recipient('b@example.net', 'bcc')];
    const sender = graphSender(envelope(recipients), mail(FROM, 'To: bob@example.org'));
    expect(sender).toMatchObject({ bcc: 'Bcc: a@example.net, b@example.net\r\n' });
  });

  test('may be all there are', () => {
    const sender = graphSender(
      envelope([recipient('a@example.net', 'bcc')]),
      mail(FROM, 'To: undisclosed-recipients:;'),
    );
    expect(sender).toMatchObject({ bcc: 'Bcc: a@example.net\r\n' });
  });

  test('of great number are folded, and every one stays', () => {
    const recipients = Array.from({ length: 500 }, (_, i) => recipient(`user${i}@example.net`, 'bcc'));
    const sender = graphSender(envelope(recipients), mail(FROM));
    if (!sender.ok) throw new Error(sender.reply.text);
    expect(sender.bcc.split('\r\n').every((line) => line.length <= 78)).toBe(true);
    expect(sender.bcc.match(/user\d+@example\.net/g)).toHaveLength(500);
  });
});

describe('an envelope that differs is refused, in words', () => {
  test.each([
    ['someone else in To', [FROM, 'To: bob@example.org, d@example.org'], [BOB], /names somebody/],
    ['someone else in Cc', [FROM, 'To: bob@example.org', 'Cc: d@example.org'], [BOB], /names somebody/],
    ['someone else in a Bcc', [FROM, 'To: bob@example.org', 'Bcc: d@example.org'], [BOB], /names somebody/],
    ['one who is nowhere', [FROM, 'To: bob@example.org'], [BOB, recipient('d@example.org')], /is neither/],
    ['a group', [FROM, 'To: Friends: bob@example.org;'], [BOB], /cannot be read/],
    ['no address', [FROM, 'To: bob'], [BOB], /cannot be read/],
    ['no From', ['To: bob@example.org'], [BOB], /From is not/],
    ['two authors', ['From: jane@example.com, x@example.com', 'To: bob@example.org'], [BOB], /From is not/],
    ['two Froms', [FROM, FROM, 'To: bob@example.org'], [BOB], /From is not/],
    ['another From', ['From: x@example.com', 'To: bob@example.org'], [BOB], /reverse-path/],
  ])('%s', (_, fields, recipients, why) => {
    const sender = graphSender(envelope(recipients), mail(...fields));
    expect(sender).toMatchObject({
      ok: false,
      reply: { code: null, cause: 'envelope_differs', text: expect.stringMatching(why) },
    });
  });

  test('the null reverse-path', () => {
    const sender = graphSender(envelope([BOB], ''), mail(FROM, 'To: bob@example.org'));
    expect(sender).toMatchObject({ ok: false, reply: { cause: 'envelope_differs' } });
  });

  test('a header of more than 1 MiB', () => {
    const long = Array.from({ length: 1100 }, () => `X-Long: ${'x'.repeat(990)}`);
    const sender = graphSender(envelope([BOB]), mail(FROM, 'To: bob@example.org', ...long));
    expect(sender).toMatchObject({ ok: false, reply: { text: expect.stringMatching(/too large/) } });
  });

  test('more than 2,000 addresses', () => {
    const recipients = Array.from({ length: 2001 }, (_, i) => recipient(`user${i}@example.net`));
    const to = `To: ${recipients.map(({ address }) => address).join(',\r\n ')}`;
    expect(graphSender(envelope(recipients), mail(FROM, to))).toMatchObject({ ok: false });
  });
});

test('whatever the bytes, it answers', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
      const content = Buffer.concat([Buffer.from(`${FROM}\r\nTo: `), bytes]);
      expect(typeof graphSender(envelope([BOB]), content).ok).toBe('boolean');
    }),
  );
});

test('whoever is sent to is exactly who stands in the header handed over', () => {
  const place = fc.constantFrom<RecipientKind>('to', 'cc', 'bcc');
  const people = fc.uniqueArray(fc.integer({ min: 0, max: 50 }), { minLength: 1, maxLength: 8 });
  fc.assert(
    fc.property(people, fc.array(place, { minLength: 8, maxLength: 8 }), (numbers, places) => {
      const recipients = numbers.map((n, i) => recipient(`u${n}@example.net`, places[i] ?? 'to'));
      const of = (kind: RecipientKind) =>
        recipients.filter((one) => one.kind === kind).map(({ address }) => address);
      const fields = [FROM];
      if (of('to').length > 0) fields.push(`To: ${of('to').join(', ')}`);
      if (of('cc').length > 0) fields.push(`Cc: ${of('cc').join(', ')}`);
      const sender = graphSender(envelope(recipients), mail(...fields));
      if (!sender.ok) throw new Error(sender.reply.text);
      const handed = (sender.bcc + fields.slice(1).join('\r\n')).match(/u\d+@example\.net/g) ?? [];
      expect(handed.sort()).toEqual(recipients.map(({ address }) => address).sort());
    }),
  );
});
