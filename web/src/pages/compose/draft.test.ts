import { describe, expect, it } from 'vitest';
import { draftOf, EMPTY_DRAFT, fileBytes, messageOf } from './draft.ts';

describe('a message that is edited', () => {
  const message = {
    from: 'Shop <shop@example.com>',
    to: ['"Doe, Jane" <jane@example.org>', 'bob@example.org'],
    subject: 'Your order',
    text: 'Thanks.\n',
    headers: { 'Reply-To': 'help@example.com', 'X-Order': 'a: b' },
    tags: ['orders', 'two words'],
    metadata: { order: '1001' },
    attachments: [{ filename: 'a.txt', content: 'SGk=', contentType: 'text/plain' }],
  };

  it('comes back as it was, its lists as text', () => {
    expect(messageOf(draftOf(message))).toEqual({
      ...message,
      to: '"Doe, Jane" <jane@example.org>, bob@example.org',
    });
  });

  it('leaves out what is empty, but the subject', () => {
    expect(messageOf({ ...EMPTY_DRAFT, from: ' a@example.com ', to: 'b@example.org', text: 'x' })).toEqual({
      from: 'a@example.com',
      to: 'b@example.org',
      subject: '',
      text: 'x',
    });
  });

  it('leaves a line that is no header for the server to refuse', () => {
    expect(messageOf({ ...EMPTY_DRAFT, headers: 'no colon here\n\nX-A: 1' })['headers']).toEqual({
      'no colon here': ' ',
      'X-A': '1',
    });
  });

  it('takes nothing that is of the wrong type', () => {
    const odd = { from: 7, to: [null, 'b@example.org'], headers: 'x', tags: 'x', attachments: [1, {}] };
    expect(draftOf(odd)).toEqual({ ...EMPTY_DRAFT, to: ', b@example.org' });
  });
});

it('a file has as many bytes as its base64 stands for', () => {
  for (const text of ['', 'a', 'ab', 'abc', 'abcd'])
    expect(fileBytes(Buffer.from(text).toString('base64'))).toBe(text.length);
});
