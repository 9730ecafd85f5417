import { expect, test } from 'vitest';
import { feedbackText, MAX_FEEDBACK_TEXT } from './feedback.ts';

test('a text becomes one line without what ends lines or steers a display', () => {
  expect(feedbackText(' 550 5.1.1\r\n no\u2028such\u202e \0user\t\ud800 ')).toBe('550 5.1.1 no such user');
  expect(feedbackText('\r\n')).toBe('');
  expect(feedbackText('Benutzer gibt es nicht, 存在しません')).toBe('Benutzer gibt es nicht, 存在しません');
});

test('a text is cut at its limit, between characters', () => {
  expect(feedbackText('x'.repeat(MAX_FEEDBACK_TEXT + 1))).toBe('x'.repeat(MAX_FEEDBACK_TEXT));
  const cut = feedbackText(`${'x'.repeat(MAX_FEEDBACK_TEXT - 1)}😀`);
  expect(cut.isWellFormed()).toBe(true);
  expect(cut.length).toBeLessThanOrEqual(MAX_FEEDBACK_TEXT);
});

test('a text of many megabytes costs no more than a short one', () => {
  const long = '\n'.repeat(4_000_000);
  const begun = performance.now();
  for (let run = 0; run < 100; run++) feedbackText(long);
  expect(performance.now() - begun).toBeLessThan(2000);
});
