import { expect, test } from 'vitest';
import { NO_MESSAGE } from '../domain/feedback.ts';
import { recipientsOfFeedback } from './feedback-recipient.ts';

const RECIPIENTS = [
  { address: 'ann@x.test', orcpt: null },
  { address: 'bob@y.test', orcpt: 'rfc822;robert+2Bold@z.test' },
  { address: 'cyn+2B@x.test', orcpt: null },
  { address: 'Dee@x.test', orcpt: null },
  { address: 'dee@x.test', orcpt: null },
  { address: 'eve@x.test', orcpt: 'rfc822;list@x.test' },
  { address: 'fay@x.test', orcpt: 'rfc822;list@x.test' },
  { address: 'jürgen@x.test', orcpt: null },
  { address: 'gus@x.test', orcpt: 'rfc822;ann@x.test' },
];

function find(
  names: readonly string[],
  recipients: typeof RECIPIENTS = RECIPIENTS,
  numbered: number | null = null,
) {
  const message = { ...NO_MESSAGE, token: { id: 'msg_1', recipient: numbered } };
  const [recipient] = names;
  const named = { recipient: recipient ?? null, alternatives: names.slice(1) };
  return recipientsOfFeedback([{ message, ...named }], recipients)[0];
}

test.each([
  ['the first name', ['bob@y.test', 'cyn+2B@x.test'], 1],
  ['the next, where the first is none of ours', ['who@z.test', 'cyn+2B@x.test'], 2],
  ['what its sender gave as the original recipient', ['robert+old@z.test'], 1],
  ['the same, still in xtext', ['robert+2Bold@z.test'], 1],
  ['another case', ['BOB@Y.TEST'], 1],
  ['the case, where only that differs', ['Dee@x.test'], 3],
  ['the case, where only that differs, in the other', ['dee@x.test'], 4],
  ['the next, where two have the first', ['list@x.test', 'fay@x.test'], 6],
  ["an address that is another's original recipient, too", ['ann@x.test'], 0],
  ['composed and decomposed letters', ['ju\u0308rgen@x.test'], 7],
])('%s tells whom feedback is about', (_, names, place) => {
  expect(find(names)).toBe(place);
});

test.each([
  ['nobody of ours', ['who@z.test', 'who@y.test']],
  ['nobody at all', []],
  ['two, by a case that neither has', ['DEE@x.test']],
  ['two, by the original that both have', ['list@x.test']],
])('feedback that names %s is about nobody', (_, names) => {
  expect(find(names)).toBeNull();
});

test('the only recipient is meant whoever is named, as after a forwarding', () => {
  expect(find(['who@z.test'], RECIPIENTS.slice(0, 1))).toBe(0);
  expect(find([], RECIPIENTS.slice(0, 1))).toBe(0);
  expect(find([], [])).toBeNull();
});

test("the token's number counts before all names", () => {
  expect(find(['ann@x.test'], RECIPIENTS, 2)).toBe(2);
  expect(find(['ann@x.test'], RECIPIENTS, RECIPIENTS.length)).toBeNull();
  expect(find(['ann@x.test'], RECIPIENTS, -1)).toBeNull();
});

test('each piece of feedback is answered', () => {
  const feedback = ['ann@x.test', 'who@z.test', 'bob@y.test'].map((recipient) => ({
    message: NO_MESSAGE,
    recipient,
  }));
  expect(recipientsOfFeedback(feedback, RECIPIENTS)).toEqual([0, null, 1]);
});
