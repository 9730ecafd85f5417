import { execFileSync } from 'node:child_process';
import { expect, it } from 'vitest';
import { curlOf } from './curl.ts';

it('gives a shell the message as it is, whatever stands in it', () => {
  const message = { subject: `it's "$HOME" \`id\` \\ $(id) !\n\u202egpj.exe`, to: ['ü@example.org'] };
  const command = curlOf(message, 'http://localhost:8025/');
  // A function in curl's place, which prints its arguments.
  const script = `curl() { printf '%s\\0' "$@"; }; WAYBILL_KEY=secret; ${command}`;
  const words = execFileSync('sh', ['-c', script], { encoding: 'utf8' }).split('\0');
  expect(words.slice(0, 3)).toEqual([
    'http://localhost:8025/api/v1/messages',
    '-H',
    'Authorization: Bearer secret',
  ]);
  expect(JSON.parse(words[6] ?? '')).toEqual(message);
  expect(command).not.toContain('\u202e');
});
