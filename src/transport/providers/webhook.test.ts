import fc from 'fast-check';
import { expect, test } from 'vitest';
import { atOnce } from '../../lib/clock.ts';
import { webhookKey, webhookProvider } from './webhook.ts';

test.each([
  ['padded', 'whsec_AAEC', '000102'],
  ['with padding at its end', 'whsec_AAE=', '0001'],
  ['without its padding', 'whsec_AAE', '0001'],
])('a secret %s is the base64 of its key', (_, secret, hex) => {
  expect(webhookKey(secret).toString('hex')).toBe(hex);
});

test.each(['whsec_', 'whsec_A', 'whsec_AA-_', 'whsec_AAE=x', 'WHSEC_AAEC', 'plain', 'Träumerei'])(
  '%s is a key in plain text',
  (secret) => {
    expect(webhookKey(secret)).toEqual(Buffer.from(secret));
  },
);

test('whatever the message and its envelope, the body is JSON that gives them back', () => {
  const provider = webhookProvider({ endpoint: 'https://x.example/', secret: 's' });
  const message = fc.record({
    from: fc.string(),
    to: fc.array(fc.string(), { minLength: 1 }),
    bytes: fc.uint8Array(),
  });
  fc.assert(
    fc.property(message, ({ from, to, bytes }) => {
      const recipients = to.map((address) => ({ address, kind: 'to' as const, notify: null, orcpt: null }));
      const content = Buffer.from(bytes);
      const flags = { eightBit: true, utf8: false, dotStuffing: false };
      const envelope = { reversePath: from, recipients, ret: null, envid: null };
      const prepared = atOnce(
        provider.prepare({ id: 'msg_1', envelope, flags, content }, { now: 0, token: '' }),
      );
      if (!prepared.ok) throw new Error(prepared.reply.text);
      const { data } = JSON.parse(Buffer.concat(prepared.request.body).toString());
      expect(data.envelope).toEqual({ from, to });
      expect(Buffer.from(data.raw, 'base64')).toEqual(content);
    }),
  );
});

test.each([
  ['an error’s detail', '{"detail": "a", "message": "b", "error": "c"}', 'a'],
  ['its message', '{"message": "b", "error": "c"}', 'b'],
  ['its error', '{"error": "c"}', 'c'],
  ['none that is too long', JSON.stringify({ error: 'x'.repeat(1001) }), null],
  ['none of a list', '[1]', null],
])('%s is read', (_, body, text) => {
  const { read } = webhookProvider({ endpoint: 'https://x.example/', secret: 's' });
  expect(read({ status: 400, headers: {}, body })).toEqual({
    code: null,
    text,
    messageId: null,
    understood: true,
  });
});
