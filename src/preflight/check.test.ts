import { expect, test } from 'vitest';
import { checkMail, MAX_FINDINGS, MAX_PLACES } from './check.ts';
import { type Finding, type MailDraft, NO_WAY } from './contract.ts';
import { mailOfDraft } from './mail.ts';
import { RULES } from './rules.ts';

const GOOD: MailDraft = {
  from: 'orders@example.com',
  subject: 'Your order 1001 is on its way',
  html: '<p>Hello</p>',
  text: 'Hello',
};

function found(given: Partial<MailDraft>): Finding[] {
  return checkMail(mailOfDraft({ ...GOOD, ...given }), NO_WAY, RULES);
}

test('many places of one rule are told once each up to a limit, and then counted', () => {
  const images = '<img src="https://example.com/a.png" width="9">\n'.repeat(MAX_PLACES + 3);
  const told = found({ html: images }).filter(({ code }) => code === 'image-alt');
  expect(told).toHaveLength(MAX_PLACES);
  expect(told.at(-1)?.detail).toMatch(/There are 3 more places like this\.$/);
  expect(found({ html: images.repeat(90) }).find(({ detail }) => detail.includes('more'))?.detail).toMatch(
    /There are at least 1000 more places like this\.$/,
  );
  expect(told.at(0)?.detail).not.toMatch(/more places/);
});

test('the worst comes first, and there is an end', () => {
  const severities = found({ subject: '{{x}}', text: null, headers: { 'Reply-To': 'a@gmail.com' } }).map(
    ({ severity }) => severity,
  );
  expect(severities).toEqual(['error', 'warning', 'hint']);
  const many = Array.from({ length: 20 }, (_, place) => ({
    code: `c${place}`,
    severity: 'hint' as const,
    looksAt: '',
    finds: '',
    find: () => Array.from({ length: 10 }, () => ({ where: '', detail: 'x'.repeat(2_000), fix: '' })),
  }));
  const all = checkMail(mailOfDraft(GOOD), NO_WAY, many);
  expect(all).toHaveLength(MAX_FINDINGS);
  expect(all[0]?.detail).toHaveLength(500);
  const place = { where: '', detail: 'x', fix: '' };
  const last = { code: 'worst', severity: 'error' as const, looksAt: '', finds: '', find: () => [place] };
  expect(checkMail(mailOfDraft(GOOD), NO_WAY, [...many, last])[0]?.code).toBe('worst');
});
