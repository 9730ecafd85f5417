/** A certificate and a key that somebody uploads, and names of files that somebody else chose. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { attachmentHeader } from '../../src/dashboard/file-name.ts';
import { certificatesIn } from '../../src/tls/pair.ts';
import { uploadFault } from '../../src/tls/upload.ts';
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
  ...(['a', '.txt', '.exe', '/', '\\', '..', ' ', '"', ';', '\r\n', 'CON', 'ü', '\u202e', "'", '%'] as const),
  ...['x'.repeat(250), '*', '🚀', '\ud800'],
);

test('the header of a download is one line, and names no path and no device', () =>
  fuzz(
    'download name',
    { made: name, corpus: corpus('header-field', (bytes) => bytes.toString()) },
    (text) => {
      const header = attachmentHeader(text, 'file');
      expect(header).toMatch(/^attachment; [ -~]+$/);
      const [, plain = ''] = /filename="((?:[^"\\]|\\.)*)"/.exec(header) ?? [];
      expect(plain).not.toMatch(/[/\\]|^\.|^(?:con|nul|aux|prn)(?:\.|$)/i);
      expect(header.length).toBeLessThan(2000);
      return header.includes("filename*=UTF-8''");
    },
  ));
