/** The tables of codes hold every code that the ingestion API refuses with, and no other. */
import { expect, test } from 'vitest';
import { FIELD_CODES } from '../../../src/ingest/http/openapi/fault-codes.ts';
import type { ProblemRow } from '../../../src/ingest/http/openapi/problem-codes.ts';
import { PROBLEMS } from '../../../src/ingest/http/openapi/problem-codes.ts';
import { textsInSource, thrownCodes } from '../../support/refusal-codes.ts';

const TABLE: Readonly<Record<string, ProblemRow>> = PROBLEMS;

test('every code that is thrown is in a table, with its status', () => {
  const missing = thrownCodes().filter(({ code, status }) =>
    status === null
      ? !(code in TABLE) && !FIELD_CODES.includes(code)
      : TABLE[code]?.statuses.includes(status) !== true,
  );
  expect(missing).toEqual([]);
});

test('every code in the tables is thrown somewhere', () => {
  const texts = textsInSource();
  expect([...Object.keys(TABLE), ...FIELD_CODES].filter((code) => !texts.has(code))).toEqual([]);
});

test('a code means what it says: one sentence or more each, and a status of its own', () => {
  for (const [code, { statuses, meaning, cure }] of Object.entries(TABLE)) {
    expect(code).toMatch(/^[a-z]+(_[a-z0-9]+)*$/);
    expect(statuses.length).toBeGreaterThan(0);
    expect(meaning).toMatch(/^[A-Z].*\.$/);
    expect(cure).toMatch(/^[A-Z].*\.$/);
  }
});
