/** What comes back after delivery: refusals of any kind, tokens of ours and not, addresses to suppress. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { bounceTypeOf } from '../../src/domain/bounce.ts';
import { feedbackText } from '../../src/domain/feedback.ts';
import { parseAddress } from '../../src/domain/mailbox.ts';
import { parseSuppressed, suppressedOf, suppressionKeys } from '../../src/domain/suppressed-address.ts';
import { createRecipientTokens } from '../../src/lib/recipient-token.ts';
import { corpus } from './corpus.ts';
import { fuzz } from './fuzz.ts';
import { textOf } from './inputs.ts';
import { inLinearTime } from './processor-time.ts';

const REFUSAL = /^(\d{3})[ -](?:([245]\.\d{1,3}\.\d{1,3}) )?(.*)$/s;
const refusal = textOf(
  '550 ',
  '553-',
  '452 ',
  '5.1.1 ',
  '(#5.7.1)',
  'user ',
  'unknown ',
  'mailbox ',
  'unavailable',
  'quota exceeded ',
  'spam ',
  'sender ',
  '<a@x.org>',
  'https://x.org/spam',
  'é',
  'https://',
);

test('whatever a server says, it has one type; hard by a code that may mean it, and evidence is one line', () =>
  fuzz(
    'bounce type',
    { made: refusal, corpus: corpus('smtp-reply', (bytes) => bytes.toString()) },
    (text) => {
      const [, code = '0', enhanced = null, said = text] = REFUSAL.exec(text) ?? [];
      const type = bounceTypeOf({ code: Number(code), enhanced, text: said });
      if (type === 'hard')
        expect(
          [550, 551, 553].includes(Number(code)) || /5\.0*[12]\.0*\d/.test((enhanced ?? '') + said),
        ).toBe(true);
      const line = feedbackText(said);
      expect(line).not.toMatch(/[\p{C}\p{Zl}\p{Zp}]/u);
      expect(feedbackText(line)).toBe(line);
      return type === 'hard';
    },
  ));

const pattern = textOf(
  '*@',
  '*.',
  '*',
  '@',
  'x.org',
  'a',
  'A',
  'bücher',
  '.',
  '"*"@',
  '"',
  '[192.0.2.1]',
  '.b',
  '\u212a',
);

test('an address or pattern has one normal form, and is found for exactly the recipients that it means', () =>
  fuzz(
    'suppressed address',
    { made: pattern, corpus: corpus('addresses', (bytes) => bytes.toString()) },
    (text) => {
      const recipient = parseAddress(text);
      if (recipient.ok) {
        const { kind, address } = suppressedOf(recipient.value.address);
        expect(kind).toBe('mailbox');
        const keys = suppressionKeys(recipient.value.address);
        expect(keys.length).toBeLessThanOrEqual(6);
        expect(keys[0]).toBe(address);
      }
      const parsed = parseSuppressed(text);
      if (!parsed.ok) return false;
      const { kind, address, domain } = parsed.value;
      // A composition in normal form can have more octets than what was written.
      const again = parseSuppressed(address);
      if (again.ok || again.code !== 'address_too_long') expect(again).toEqual(parsed);
      if (domain.length < 200)
        expect(suppressionKeys(`z@b.${domain}`).includes(address)).toBe(kind === 'subdomains');
      return true;
    },
  ));

const tokens = createRecipientTokens('return_path', () => new Uint8Array(32).fill(7));
const OURS = tokens.localPart({ id: 'msg_01jbx0q4tc0123456789abcdef', recipient: 3 });
const localPart = fc.oneof(
  fc.constantFrom(OURS, OURS.toUpperCase()),
  fc
    .tuple(fc.nat(41), fc.constantFrom('b', '-', '0', 'z', 'o', 'K', '\u212a', ''))
    .map(([at, letter]) => OURS.slice(0, at) + letter + OURS.slice(at + 1)),
);

test('a token that we did not make is none', () =>
  fuzz(
    'recipient token',
    { made: localPart, corpus: corpus('addresses', (bytes) => bytes.toString()) },
    (text) => {
      const about = tokens.readLocalPart(text);
      expect(about !== null).toBe(/^[\0-\x7f]*$/.test(text) && text.toLowerCase() === OURS);
      return about !== null;
    },
  ));

test('long hostile text takes linear time', () => {
  inLinearTime(['*@', '*.', '@', 'a.', '"', '\u212a', 'H\u0331'], (text) => parseSuppressed(text));
  inLinearTime(['b-', '0'], (text) => tokens.readLocalPart(text));
  inLinearTime(['\n', '\u200d', 'a '], (text) => feedbackText(text));
});
