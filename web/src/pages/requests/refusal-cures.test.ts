import { expect, test } from 'vitest';
import { FAULTS } from '../../../../src/ingest/http/openapi/fault-codes.ts';
import { PROBLEMS } from '../../../../src/ingest/http/openapi/problem-codes.ts';
import { SMTP_REFUSALS } from '../../../../src/ingest/smtp/refusal-codes.ts';
import { curesIn, cureWords } from './refusal-cures.ts';

const { relay_not_allowed, queue_limit, too_many_recipients, nul } = SMTP_REFUSALS;

const labels = (of: { readonly meaning: string; readonly cure: string }, without?: string) =>
  curesIn(of, without).map(({ label }) => label);

test('a refusal leads to the settings and pages that its sentences name, once each', () => {
  expect(labels(relay_not_allowed)).toEqual(['API keys', 'Setting listener.allowed_cidrs']);
  expect(labels(relay_not_allowed, 'listener.allowed_cidrs')).toEqual(['API keys']);
  expect(labels(queue_limit)).toEqual([
    'Queue',
    'Setting limits.max_queued_per_key',
    'Setting limits.max_queued_bytes',
  ]);
  expect(curesIn(too_many_recipients)).toMatchObject([
    { target: { to: '/settings/$section', params: { section: 'all' }, search: { q: 'api.max_recipients' } } },
  ]);
  expect(labels(nul)).toEqual([]);
  expect(curesIn({ meaning: '`g.h` `a.b`', cure: '`a.b` `c.d` `e.f`' })).toHaveLength(3);
});

test('over the API, too; where only a key is named, to the keys', () => {
  expect(labels(PROBLEMS.unauthorized)).toEqual(['API keys']);
  expect(labels(PROBLEMS.content_too_large)).toEqual([
    'Setting api.max_message_bytes',
    'Setting api.max_batch_bytes',
  ]);
  expect(labels(FAULTS.required)).toEqual([]);
});

test('where there is a button, the sentence comes without the command line', () => {
  expect(cureWords(relay_not_allowed.cure)).toBe(
    'Let it sign in with an API key, or allow its address in `listener.allowed_cidrs`.',
  );
  for (const { cure } of Object.values(SMTP_REFUSALS))
    expect(cureWords(cure)).not.toMatch(/waybill |\(\)|^\W/);
});
