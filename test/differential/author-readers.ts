import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import addressparser from 'nodemailer/lib/addressparser';
import { expect } from 'vitest';

/** Programs that are not ours, asked who a header is from. */

const READER = fileURLToPath(new URL('./read_authors.py', import.meta.url));
const MAX_OUTPUT_BYTES = 256 * 1024 * 1024;
const AUTHOR_FIELD = /^(?:from|sender)[ \t]*:((?:[^\r]|\r\n[ \t])*)/gim;
/** One that decodes before it parses may leave some of what follows at a domain's end, which is then none. */
const NO_DOMAIN_BEHIND = /[^a-z0-9\]]+$/;

/** What stands behind `From: `, as a header: bytes where all characters are below 256, else UTF-8. */
export function headerOf(text: string): Buffer {
  return Buffer.from(`From: ${text}\r\n\r\n`, /^[\0-\xff]*$/.test(text) ? 'latin1' : 'utf8');
}

/** The addresses that each of Python's readers finds in each header. One process for all of them. */
export function readByPython(
  headers: readonly Buffer[],
): readonly Readonly<Record<string, readonly string[]>>[] {
  const input = headers.map((header) => `${header.toString('base64')}\n`).join('');
  const child = spawnSync('python3', [READER], { input, encoding: 'utf8', maxBuffer: MAX_OUTPUT_BYTES });
  expect(child.stderr).toBe('');
  const lines = child.stdout.split('\n').slice(0, -1);
  expect(lines).toHaveLength(headers.length);
  return lines.map((line) => JSON.parse(line));
}

/** The addresses that nodemailer's parser finds. */
export function readByNodemailer(header: Buffer): readonly string[] {
  return [...header.toString().matchAll(AUTHOR_FIELD)].flatMap(([, value = '']) =>
    addressparser(value.replaceAll('\r\n', ''), { flatten: true }).map(({ address }) => address),
  );
}

/** The addresses that are on another domain than ok.test. */
export function foreign(addresses: readonly string[]): readonly string[] {
  return addresses.filter((address) => {
    const [, domain] = /@([^@]*)$/.exec(address) ?? [];
    return domain !== undefined && domain.toLowerCase().replace(NO_DOMAIN_BEHIND, '') !== 'ok.test';
  });
}

/** The same by reader. One that decodes before it parses finds a lone word behind "@" as well, which is nobody's domain. */
export function foreignIn(reading: Readonly<Record<string, readonly string[]>>): readonly string[] {
  return Object.entries(reading).flatMap(([reader, found]) =>
    foreign(found)
      .filter((address) => reader !== 'decoding first' || /@.*[.[]/.test(address))
      .map((address) => `${reader}: ${address}`),
  );
}
