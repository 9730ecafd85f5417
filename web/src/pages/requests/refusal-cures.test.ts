import { expect, test } from 'vitest';
import { SMTP_REFUSALS } from '../../../../src/ingest/smtp/refusal-codes.ts';
import { curesIn, cureWords } from './refusal-cures.ts';

const { relay_not_allowed, queue_limit, too_many_recipients, nul } = SMTP_REFUSALS;

test('a refusal leads to the setting and the page that its cure names, once each', () => {
  expect(curesIn(relay_not_allowed.cure).map(({ label }) => label)).toEqual([
    'API keys',
    'Setting listener.allowed_cidrs',
  ]);
  expect(curesIn(relay_not_allowed.cure, 'listener.allowed_cidrs').map(({ label }) => label)).toEqual([
    'API keys',
  ]);
  expect(curesIn(queue_limit.cure)).toMatchObject([{ target: { to: '/queue' } }]);
  expect(curesIn(too_many_recipients.cure)).toMatchObject([
    { target: { to: '/settings/$section', params: { section: 'all' }, search: { q: 'api.max_recipients' } } },
  ]);
  expect(curesIn(nul.cure)).toEqual([]);
  expect(curesIn('`a.b` `c.d` `e.f` `g.h` `a.b`')).toHaveLength(3);
});

test('where there is a button, the sentence comes without the command line', () => {
  expect(cureWords(relay_not_allowed.cure)).toBe(
    'Let it sign in with an API key, or allow its address in `listener.allowed_cidrs`.',
  );
  for (const { cure } of Object.values(SMTP_REFUSALS))
    expect(cureWords(cure)).not.toMatch(/waybill |\(\)|^\W/);
});
