import { expect, test } from 'vitest';
import { STATUS_RECORD } from '../ingest/http/openapi/examples.ts';
import { redactor } from './redacting.ts';

const RECORD = {
  ...STATUS_RECORD,
  from: 'shop@example.com',
  to: ['ann.lee@example.org', 'al@example.org'],
  cc: ['"o\'brien, (x)"@example.net'],
  bcc: [],
  subject: 'Your test results, Ann',
  tags: ['results'],
  metadata: { patient: 'Ann Lee' },
};

test('addresses keep their domains, and a sender’s words are hidden', () => {
  expect(redactor(RECORD)(RECORD)).toMatchObject({
    id: RECORD.id,
    messageId: RECORD.messageId,
    status: RECORD.status,
    from: '*@example.com',
    to: ['*@example.org', '*@example.org'],
    cc: ['*@example.net'],
    subject: '(hidden)',
    tags: ['(hidden)'],
    metadata: { patient: '(hidden)' },
  });
});

test('a reply that names a recipient without the domain names nobody', () => {
  const hide = redactor(RECORD);
  expect(hide('550 5.1.1 <ann.lee@example.org>: ANN.LEE unknown here')).toBe(
    '550 5.1.1 <*@example.org>: * unknown here',
  );
  // Others' names, and words that a short local part is part of, stay.
  expect(hide('450 joann.leeds: all busy, al')).toBe('450 joann.leeds: all busy, al');
});

test('a recipient who is called like a status or a verb hides neither', () => {
  const told = { status: 'delivered', steps: [{ verb: 'MAIL', reply: '250 delivered to mail' }] };
  const to = ['delivered@example.org', 'mail@example.org'];
  expect(redactor({ ...RECORD, to })(told)).toEqual({
    status: 'delivered',
    steps: [{ verb: 'MAIL', reply: '250 * to *' }],
  });
});

test('what is no text stays as it is', () => {
  const told = { attempts: [{ number: 1, at: null, ok: true, steps: [{ reply: '250 shop ok' }] }] };
  expect(redactor(RECORD)(told)).toEqual({
    attempts: [{ number: 1, at: null, ok: true, steps: [{ reply: '250 * ok' }] }],
  });
});
