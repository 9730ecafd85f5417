import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { Installation } from '../../test/support/installation.ts';
import { withAndWithoutServer } from '../../test/support/with-server.ts';

let here: Installation;
beforeEach(() => {
  here = new Installation();
});
afterEach(() => here.remove());

const ENVELOPE = ['--from', 'a@example.org', '--to', 'b@example.net', '--subject', 'Hé'];

withAndWithoutServer(
  () => here,
  (running) => {
    async function content(id: string): Promise<string> {
      const { status, out } = await here.waybill(['messages', 'content', id]);
      expect(status).toBe(0);
      return out;
    }

    test('messages content writes the message as it is sent, to the standard output or a new file', async () => {
      const { id } = await here.json(['send', ...ENVELOPE, '--text', 'hi', '--bcc', 'c@example.net']);
      const bytes = await content(id);
      expect(bytes).toMatch(/^Received: [\s\S]*\r\nTo: b@example[.]net\r\n[\s\S]*\r\n\r\nhi\r\n$/);
      expect(bytes).not.toContain('c@example.net');

      const file = join(here.folder, 'mail.eml');
      const written = await here.waybill(['messages', 'content', id, '--output', file]);
      expect(written).toEqual({ status: 0, out: `${file}: ${bytes.length} bytes.\n`, err: '' });
      expect([readFileSync(file, 'latin1'), statSync(file).mode & 0o777]).toEqual([bytes, 0o600]);
      const again = await here.waybill(['messages', 'content', id, '--output', file]);
      expect([again.status, again.err]).toEqual([1, expect.stringContaining(`${file} cannot be created`)]);

      const told = await here.json(['messages', 'content', id]);
      expect(told).toEqual({ id, sizeBytes: bytes.length, content: expect.any(String) });
      expect(Buffer.from(told.content, 'base64').toString('latin1')).toBe(bytes);
      const none = await here.waybill(['messages', 'content', 'msg_none']);
      expect([none.status, none.out, none.err]).toEqual([
        1,
        '',
        expect.stringContaining('no message msg_none'),
      ]);
    });

    test('messages content shows a person text that cannot mislead the terminal', async () => {
      const { id } = await here.json(['send', ...ENVELOPE, '--text', 'before \u202e after']);
      const { out } = await here.waybill(['messages', 'content', id], { columns: 80 });
      expect(out).toMatch(/^To: b@example[.]net$/m);
      expect(out).not.toMatch(/[\r\u202e]/);
    });

    test('messages resend sends a kept message once more, as a new one', async () => {
      const { id } = await here.json(['send', ...ENVELOPE, '--text', 'hi']);
      const again = await here.json(['messages', 'resend', id]);
      expect(again.id).not.toBe(id);
      expect(await content(again.id)).toMatch(/\r\n\r\nhi\r\n$/);
      const { out } = await here.waybill(['messages', 'resend', id]);
      expect(out).toMatch(
        running ? /^msg_\w+\nAccepted as a new message[.]\n$/ : /The server is not running/,
      );
      const none = await here.waybill(['messages', 'resend', 'msg_none']);
      expect([none.status, none.err]).toEqual([1, expect.stringContaining('no message msg_none')]);
    });

    test('the body of send comes from the standard input where - stands for it, or nothing else is there', async () => {
      const bodyOf = async (input: string, ...options: readonly string[]) => {
        const { status, out, err } = await here.waybill(['send', ...ENVELOPE, ...options, '--json'], {
          input,
        });
        expect([status, err]).toEqual([0, '']);
        return await content(JSON.parse(out).id);
      };
      expect(await bodyOf('piped\n', '--text', '-')).toMatch(/text\/plain[\s\S]*\r\n\r\npiped\r\n$/);
      expect(await bodyOf('piped\n')).toMatch(/text\/plain[\s\S]*\r\n\r\npiped\r\n$/);
      expect(await bodyOf('<b>x</b>', '--html', '-')).toMatch(/text\/html[\s\S]*<b>x<\/b>/);
      expect(await bodyOf('not this', '--text', 'given')).toMatch(/\r\n\r\ngiven\r\n$/);
    });
  },
);

test.each([
  [['--text', '-', '--html', '-'], 'x', 2, 'can be read only once'],
  [['--text', '-'], Buffer.of(0xff, 0xfe), 1, 'is not UTF-8'],
  [[], '', 2, 'At least one of text, html and attachments'],
])('what cannot be a body is refused: %j', async (options, input, code, reason) => {
  const { status, err } = await here.waybill(['send', ...ENVELOPE, ...options], { input });
  expect([status, err]).toEqual([code, expect.stringContaining(reason)]);
});
