import fc from 'fast-check';
import { expect, test } from 'vitest';
import { OperationError } from '../operations/call.ts';
import { evidenceOf, guessedOf, reasonOf, rowsOfCsv, rowsOfJson } from './suppression-table.ts';

const NOW = Date.UTC(2026, 10, 20);
/** Pieces of tables, and of what breaks them. */
const PIECES = [
  'address',
  'email',
  'created_at',
  'created',
  'tags',
  'ip',
  ',',
  ';',
  '\t',
  '\n',
  '\r\n',
  '"',
  "'=1",
  'a@example.org',
  'BOUNCE',
  '550',
  '5.1.1',
  '1700000000',
  'Tue, 14 Nov 2023 22:13:20 UTC',
  '{"',
  '":',
  '[',
  ']',
  '}',
  'null',
  '\ud800',
];
const tables = fc.array(fc.constantFrom(...PIECES), { maxLength: 30 }).map((pieces) => pieces.join(''));

test('any text is rows, or no table', async () => {
  const holds = fc.asyncProperty(fc.oneof(tables, fc.string()), async (text) => {
    for (const read of [rowsOfCsv, async (json: string) => rowsOfJson(json)]) {
      const rows = await read(text).catch((error: unknown) => error);
      if (!Array.isArray(rows)) expect(rows).toBeInstanceOf(OperationError);
      else
        for (const { line, fields } of rows) {
          expect(line).toBeGreaterThan(0);
          expect(['import', 'hard_bounce']).toContain(guessedOf(fields));
          reasonOf(fields);
        }
    }
  });
  await fc.assert(holds, { numRuns: 2000 });
});

test('JSON of any kind is rows, or no list', () => {
  fc.assert(
    fc.property(fc.json(), (text) => {
      try {
        for (const { fields } of rowsOfJson(text))
          for (const field of Object.values(fields)) expect(field).toEqual(expect.any(String));
      } catch (error) {
        expect(error).toBeInstanceOf(OperationError);
      }
    }),
  );
});

test('a time is read as it was written, and evidence is never of another', () => {
  const times = fc.integer({ min: Date.UTC(2000, 0) / 1000, max: NOW / 1000 });
  const forms: readonly ((at: Date) => string)[] = [
    (at) => String(at.getTime() / 1000),
    (at) => at.toISOString(),
    (at) => at.toISOString().replace('Z', '+00:00'),
    (at) => at.toISOString().replace('T', ' ').replace('Z', '+00'),
    (at) => at.toUTCString(),
    (at) => at.toUTCString().replace('GMT', '+0000').slice('Tue, '.length),
  ];
  fc.assert(
    fc.property(times, fc.constantFrom(...forms), (seconds, write) => {
      expect(evidenceOf({ at: write(new Date(seconds * 1000)) }, '', NOW)?.at).toBe(seconds * 1000);
    }),
  );
  fc.assert(
    fc.property(fc.oneof(fc.string(), tables), fc.string(), (at, code) => {
      const evidence = evidenceOf({ at, code, status: code }, code, NOW);
      if (evidence !== null) expect(evidence.at >= Date.UTC(2000, 0) && evidence.at <= NOW).toBe(true);
    }),
  );
});
