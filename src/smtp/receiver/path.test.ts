import { expect, test } from 'vitest';
import { readMailbox, scanPath } from './path.ts';

test.each([
  ['<a@x.test>', 'a@x.test', ''],
  [' <> SIZE=1', '', ' SIZE=1'],
  ['<"a>b"@x.test> X', '"a>b"@x.test', ' X'],
  ['<"a\\">"@x.test>', '"a\\">"@x.test', ''],
  ['<@r.test,@[IPv6:::1]:a@x.test>', 'a@x.test', ''],
  ['<Postmaster>', 'Postmaster', ''],
])('%j is a path', (text, address, rest) => {
  expect(scanPath(text, 'sender')).toEqual({ ok: true, value: { address, rest } });
});

test.each([
  '',
  'a@x.test',
  '<a',
  '<"a>',
  '<a>b',
  '<@x.test>',
  '<@,:a@x.test>',
  `<@${'r'.repeat(600)}:a@x.test>`,
])('%j is none', (text) => {
  expect(scanPath(text, 'sender')).toMatchObject({ ok: false, reply: { code: 501, enhanced: '5.1.7' } });
  expect(scanPath(text, 'recipient')).toMatchObject({ ok: false, reply: { code: 501, enhanced: '5.1.3' } });
});

test('an address is a bare mailbox, without name and list', () => {
  expect(readMailbox('a@X.test', 'sender', false, true)).toMatchObject({
    ok: true,
    value: { address: 'a@x.test', name: null },
  });
  for (const text of [
    '',
    ' a@x.test',
    'a@x.test ',
    '"Jane" a@x.test',
    'J <a@x.test>',
    'a@x.test,b@x.test',
    'a@x.test\0',
  ])
    expect(readMailbox(text, 'sender', false, true)).toMatchObject({ ok: false });
});
