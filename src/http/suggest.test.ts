import { expect, test } from 'vitest';
import { nearest, Suggester } from './suggest.ts';

const KNOWN = ['from', 'to', 'cc', 'bcc', 'subject', 'text', 'html', 'attachments', 'sendAt', 'tags'];

test.each([
  ['attachment', 'attachments'],
  ['htm', 'html'],
  ['form', 'from'],
  ['bbc', 'bcc'],
  ['bc', 'bcc'],
  ['ot', 'to'],
  ['Subject', 'subject'],
  ['send_at', 'sendAt'],
  ['SEND-AT', 'sendAt'],
  ['sbjetc', 'subject'],
  ['atachmnets', 'attachments'],
])('%s is near %s', (given, meant) => {
  expect(nearest(given, KNOWN)).toBe(meant);
  expect(new Suggester().didYouMean(given, KNOWN)).toBe(` Did you mean "${meant}"?`);
});

test.each(['', 't', '_', 'xyz', 'body', 'template', 'constructor', '__proto__', 'a'.repeat(1_000_000)])(
  '%.20s is near nothing',
  (given) => {
    expect(nearest(given, KNOWN)).toBeNull();
    expect(new Suggester().didYouMean(given, KNOWN)).toBe('');
  },
);

test('the nearest wins, of equally near ones that which begins alike, and else the first', () => {
  expect(nearest('cat', ['bat', 'cut', 'cart'])).toBe('cut');
  expect(nearest('until', ['untile', 'until'])).toBe('until');
  expect(nearest('cat', ['bat', 'rat'])).toBe('bat');
});

test('an edit more than allowed is too many', () => {
  expect(nearest('subjxxx', KNOWN)).toBeNull();
  expect(nearest('hxxl', KNOWN)).toBeNull();
});
