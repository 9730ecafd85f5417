import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { quoted } from '../message/curl.ts';
import { curlExample, smtpExample } from './send-examples.tsx';

/** What a shell makes of a command: the words that the program would be given. */
function words(command: string): string[] {
  return execFileSync('sh', ['-c', `${command.replace(/^(curl|swaks)/, "printf '%s\\n'")}`], {
    encoding: 'utf8',
  })
    .trimEnd()
    .split('\n');
}

test('curl is given the URL, the headers and the message', () => {
  const facts = { apiUrl: 'http://localhost:8025/', secret: 'wb_live_x', from: 'a@b.test', to: 'c@d.test' };
  expect(words(curlExample(facts))).toEqual([
    'http://localhost:8025/api/v1/messages',
    '-H',
    'Authorization: Bearer wb_live_x',
    '-H',
    'Content-Type: application/json',
    '-d',
    '{"from":"a@b.test","to":["c@d.test"],"subject":"Hello from Waybill","text":"My first message."}',
  ]);
});

test('nothing in an example leaves its quotes', () => {
  const hostile = `'; touch /tmp/x; '$(id)`;
  const facts = { apiUrl: 'https://[::1]:8026', secret: hostile, from: hostile, to: 'c@d.test' };
  const given = words(curlExample({ ...facts, selfSigned: true }));
  expect(given.slice(0, 4)).toEqual([
    '--insecure',
    'https://[::1]:8026/api/v1/messages',
    '-H',
    `Authorization: Bearer ${hostile}`,
  ]);
  expect(JSON.parse(given.at(-1) ?? '')).toMatchObject({ from: hostile });
  expect(words(smtpExample({ ...facts }, { host: '::1', port: 2525 }))).toContain(hostile);
});

test('plain words stay as they are', () => {
  expect(quoted('http://localhost:8025/api')).toBe('http://localhost:8025/api');
  expect(quoted('a b')).toBe("'a b'");
  expect(quoted('')).toBe("''");
});
