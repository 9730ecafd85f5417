import { expect, test } from 'vitest';
import { readTypedAddress } from './delivery-status.ts';
import { reportedRecipients } from './reported-recipient.ts';

const RECIPIENTS = [
  { address: 'ann@x.test', orcpt: null },
  { address: 'bob@y.test', orcpt: 'rfc822;robert+2Bold@z.test' },
  { address: 'cyn+2B@x.test', orcpt: null },
  { address: 'Dee@x.test', orcpt: null },
  { address: 'dee@x.test', orcpt: null },
  { address: 'eve@x.test', orcpt: 'rfc822;list@x.test' },
  { address: 'fay@x.test', orcpt: 'rfc822;list@x.test' },
  { address: 'jürgen@x.test', orcpt: null },
  { address: 'gus+1@x.test', orcpt: null },
  { address: 'gus+2B1@x.test', orcpt: null },
];

function find(
  original: string | null,
  final: string | null,
  recipients: typeof RECIPIENTS = RECIPIENTS,
  numbered: number | null = null,
) {
  const read = (text: string | null) => (text === null ? null : readTypedAddress(text));
  const status = { originalRecipient: read(original), finalRecipient: read(final) };
  return reportedRecipients([status], recipients, numbered)[0];
}

test.each([
  ['the original recipient', 'rfc822;bob@y.test', 'rfc822; ann@x.test', 1],
  ['an original recipient that its sender gave', 'rfc822;robert+old@z.test', 'rfc822; other@z.test', 1],
  ['the same, still in xtext', 'rfc822;robert+2Bold@z.test', null, 1],
  ['the final recipient, where there is no original', null, 'rfc822; ann@x.test', 0],
  ['the final recipient, where the original is none of ours', 'rfc822;who@z.test', 'rfc822; ann@x.test', 0],
  ['an address that only looks like xtext', null, 'rfc822; cyn+2B@x.test', 2],
  ['an address as it stands, before what it decodes to', null, 'rfc822; gus+2B1@x.test', 9],
  ['xtext of it', null, 'rfc822; cyn+2B2B@x.test', 2],
  ['another case', null, 'RFC822; <ANN@X.TEST>', 0],
  ['the case, where only that differs', null, 'rfc822; Dee@x.test', 3],
  ['the case, where only that differs, in the other', null, 'rfc822; dee@x.test', 4],
  ['the final recipient, where two have the original', 'rfc822;list@x.test', 'rfc822; fay@x.test', 6],
  ['composed and decomposed letters', null, 'utf-8; ju\u0308rgen@x.test', 7],
])('%s names it', (_, original, final, place) => {
  expect(find(original, final)).toBe(place);
});

test.each([
  ['nobody of ours', 'rfc822;who@z.test', 'rfc822; who@z.test'],
  ['nobody at all', null, null],
  ['two, by a case that neither has', null, 'rfc822; DEE@x.test'],
  ['two, by the original that both have', 'rfc822;list@x.test', null],
  ["somebody's original recipient as the final one", null, 'rfc822; robert+old@z.test'],
])('a report that names %s is about nobody', (_, original, final) => {
  expect(find(original, final)).toBeNull();
});

test('the only recipient is meant whoever is named, as after a forwarding', () => {
  expect(find(null, 'rfc822; who@z.test', RECIPIENTS.slice(0, 1))).toBe(0);
  expect(find(null, null, RECIPIENTS.slice(0, 1))).toBe(0);
  expect(find(null, null, [])).toBeNull();
});

test("the token's number counts before all names", () => {
  expect(find('rfc822;ann@x.test', 'rfc822; ann@x.test', RECIPIENTS, 2)).toBe(2);
  expect(find('rfc822;ann@x.test', null, RECIPIENTS, RECIPIENTS.length)).toBeNull();
  expect(find('rfc822;ann@x.test', null, RECIPIENTS, -1)).toBeNull();
});

test('each status of a report is answered', () => {
  const statuses = ['ann@x.test', 'who@z.test', 'bob@y.test'].map((address) => ({
    originalRecipient: null,
    finalRecipient: readTypedAddress(address),
  }));
  expect(reportedRecipients(statuses, RECIPIENTS, null)).toEqual([0, null, 1]);
});
