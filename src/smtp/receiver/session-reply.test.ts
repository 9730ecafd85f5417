import { expect, test } from 'vitest';
import { formatReply } from './session-reply.ts';

test.each([
  [250, '2.1.0', 'OK', '250 2.1.0 OK\r\n'],
  [550, '2.1.0', 'no', '550 5.0.0 no\r\n'],
  [450, '', 'later', '450 4.0.0 later\r\n'],
  [550, '5.7.1\r\n250', 'no', '550 5.0.0 no\r\n'],
  [550, '5.7.1', 'a\r\n250 2.0.0 b\0ä', '550 5.7.1 a?250 2.0.0 b?\r\n'],
])('%d %j %j is one line whose status is of the class of its code', (code, enhanced, text, line) => {
  expect(formatReply({ code, enhanced, text })).toBe(line);
});

test('a long text is cut to what a line may hold', () => {
  expect(formatReply({ code: 550, enhanced: '5.7.1', text: 'x'.repeat(2000) }).length).toBeLessThanOrEqual(
    512,
  );
});
