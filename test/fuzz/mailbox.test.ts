import fc from 'fast-check';
import { expect, test } from 'vitest';
import { formatMailbox, parseAddressList, parseMailbox } from '../../src/domain/mailbox.ts';
import { corpus } from './corpus.ts';
import { fuzz } from './fuzz.ts';
import { anyText } from './inputs.ts';
import { inLinearTime } from './processor-time.ts';

/** Text made of the pieces that mean something to the grammar, so that the fuzzer gets past the first check. */
const piece = fc.oneof(
  fc.constantFrom('"', '\\', '<', '>', ',', ';', ':', '@', '[', ']', '(', ')', '.', ' ', '\t', '\r\n', '\0'),
  fc.constantFrom(
    'a',
    'jane',
    'x.org',
    'a@x.org',
    '<a@x.org>',
    '"a b"',
    '@[192.0.2.1]',
    '@[IPv6:::1]',
    '=?utf-8?q?',
  ),
  fc.constantFrom('ä', '\u00a0', '\u037e', '\u202e', '\ud800', '\u3002', 'ß', '👩‍🚀', '\ufb01'),
  anyText(4),
);
const texts = {
  made: fc.array(piece, { maxLength: 24 }).map((pieces) => pieces.join('')),
  corpus: corpus('addresses', (bytes) => bytes.toString()),
};

test('no text makes the parser throw, and what is accepted parses back to itself', () =>
  fuzz('address list', texts, (input) => {
    const list = parseAddressList(input);
    if (!list.ok) return false;
    const written = list.value.map(formatMailbox);
    expect(parseAddressList(written.join(', '))).toEqual(list);
    for (const [index, mailbox] of list.value.entries())
      expect(parseMailbox(written[index] ?? '')).toEqual({ ok: true, value: mailbox });
    return list.value.length > 0;
  }));

test('what is accepted is safe to put into an SMTP command', () =>
  fuzz('mailbox', texts, (input) => {
    const parsed = parseMailbox(input);
    if (!parsed.ok) return false;
    const { address, local, domain, ascii } = parsed.value;
    expect(address).toBe(`${local}@${domain}`);
    expect(address).not.toMatch(/[\s<>]|@.*@|\p{Cc}/u);
    expect(domain).toMatch(/^[a-z0-9.-]+$|^\[[0-9.]+\]$|^\[IPv6:[0-9a-f:.]+\]$/);
    expect(Buffer.byteLength(address)).toBeLessThanOrEqual(254);
    expect(ascii).toBe(Buffer.byteLength(local) === local.length);
    return true;
  }));

test('long hostile text takes linear time', () =>
  inLinearTime(['"', '<', '@[', '\\"', ',', 'a@', '("', '"a"', ' ', 'a.', '<a', ' ,'], (text) =>
    parseAddressList(text),
  ));
