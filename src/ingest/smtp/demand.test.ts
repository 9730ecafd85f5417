import { expect, test } from 'vitest';
import { boundTo, CONTEXT, mailboxOf, reversePathOf } from '../../../test/support/handing-in.ts';
import { buildSubmission } from './submission.ts';

test('what is demanded of TLS on the way is what MAIL says, else the header', () => {
  const demandOf = (text: string, requireTls = false) => {
    const envelope = {
      reversePath: { ...reversePathOf('a@x.test'), requireTls },
      forwardPaths: [{ mailbox: mailboxOf('b@y.test'), notify: null, orcpt: null }],
    };
    const content = { chunks: [Buffer.from(text)], sizeBytes: text.length, dotStuffing: false };
    const built = buildSubmission(envelope, content, boundTo('x.test'), CONTEXT);
    return built.ok ? built.submission.tls : built.refusal.reply.text;
  };
  expect(demandOf('TLS-Required: No\r\n\r\nx\r\n', true)).toBe('required');
  expect(demandOf('TLS-Required: No\r\n\r\nx\r\n')).toBe('optional');
  expect(demandOf('Subject: x\r\n\r\nx\r\n')).toBeUndefined();
});
