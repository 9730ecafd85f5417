/** A certificate and a key that somebody uploads, and names of files that somebody else chose. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { attachmentHeader } from '../../src/http/disposition.ts';
import { certificatesIn, uploadFault } from '../../src/tls/pair.ts';
import { corpus, examplesIn } from './corpus.ts';
import { Dice } from './dice.ts';
import { fuzz } from './fuzz.ts';
import { textOf } from './inputs.ts';
import { mutate } from './mutate.ts';

const NOW = Date.UTC(2026, 10, 22);
const examples = examplesIn('pem').map(({ bytes }) => bytes);
const damaged = fc
  .nat()
  .map((seed) => (seed % 4 === 0 ? new Dice(seed).pick(examples) : mutate(new Dice(seed), examples, 8192)));

test('an upload is a pair that TLS can use, or its fault is told in printable words', () =>
  fuzz(
    'certificate and key',
    { made: damaged.map(String), corpus: corpus('pem', (bytes) => bytes.toString('latin1'), 16 * 1024) },
    (text) => {
      const fault = uploadFault({ cert: text, key: text }, NOW);
      if (fault === null) {
        expect(certificatesIn(text).length).toBeGreaterThan(0);
        return true;
      }
      expect(fault).toMatch(/^(?:certificate|key)\b[^\0-\x1f\x7f]*$/);
      return false;
    },
  ));

const name = textOf(
  ...([
    'a',
    '.txt',
    '.exe',
    '/',
    '\\',
    '..',
    ' ',
    '"',
    ';',
    '\r\n',
    'CON',
    'com1',
    'LPT9',
    'ü',
    '\u202e',
    "'",
    '%',
  ] as const),
  ...['x'.repeat(250), '*', '🚀', '\ud800'],
);

/** RFC 6266: a name that is quoted as it is, without escapes; and one in percents (RFC 8187 §3.2.1), where it needs them. */
const HEADER =
  /^attachment; filename="([ !#$&-[\]-~]+)"(?:; filename\*=UTF-8''((?:[A-Za-z0-9!#$&+.^_`|~-]|%[0-9A-F]{2})+))?$/;

/** A name that lies where it is put, is not hidden, shows its ending, and is no device of Windows. */
function expectSafe(shown: string): void {
  expect(shown).not.toMatch(/[/\\<>:"|?*]|^[. ]|[. ]$/);
  expect(shown).not.toMatch(/[\p{C}\p{Zl}\p{Zp}]/u);
  expect(shown).not.toMatch(/^(?:con|nul|aux|prn|com\d|lpt\d)(?:\.|$)/i);
}

test('the header of a download is one line, and names no path and no device', () =>
  fuzz(
    'download name',
    { made: name, corpus: corpus('header-field', (bytes) => bytes.toString()) },
    (text) => {
      const header = attachmentHeader(text, 'file');
      const [whole, plain, extended] = HEADER.exec(header) ?? [];
      expect(whole).toBe(header);
      for (const shown of [plain, extended]) if (shown !== undefined) expectSafe(decodeURIComponent(shown));
      expect(header.length).toBeLessThan(2000);
      return extended !== undefined;
    },
  ));
