import { afterEach, expect, test } from 'vitest';
import { cidrs } from '../../support/cidrs.ts';
import { LINK_TOKENS, linksFor, NO_LINKS } from '../../support/unsubscribe-terms.ts';
import { SmtpWorld } from './world.ts';

/** Mail over SMTP from which its recipients can unsubscribe (contract-2 §A7). */

let world: SmtpWorld;
afterEach(() => world.close());

const TO = ['b@example.net', 'c@example.net'];
const LETTER = ['From: a@example.com', 'X-Waybill-Unsubscribe: news', '', 'Leave: %unsubscribe_url%', '.'];

async function send(lines: readonly string[]): Promise<string> {
  const source = { name: 'shop', cidr: '127.0.0.1', senderDomains: [], ratePerMinute: 0, tags: [] };
  world.options.sources = [{ source, cidrs: cidrs('127.0.0.1') }];
  const client = await world.hello();
  for (const line of ['MAIL FROM:<a@example.com>', ...TO.map((to) => `RCPT TO:<${to}>`)])
    expect(await client.ask(line)).toMatch(/^250 /);
  expect(await client.ask('DATA')).toMatch(/^354 /);
  return client.ask(lines.join('\r\n'));
}

test('each recipient gets a copy with its own link, and the memory for them is given back', async () => {
  world = await SmtpWorld.start();
  world.unsubscribing = linksFor('example.com');
  const reply = await send(LETTER);
  const [, id = ''] = /queued as (msg_\w+)/.exec(reply) ?? [];
  const { content, copies = [], stream } = world.last;
  expect(stream).toBe('news');
  const text = Buffer.concat(content.chunks).toString();
  expect(copies).toHaveLength(2);
  let end = 0;
  for (const [recipient, length] of copies.entries()) {
    const url = `https://mail.example.com/u/${LINK_TOKENS.write({ id, recipient })}`;
    const copy = text.slice(end, end + length);
    end += length;
    expect(copy).toContain(`\r\nList-Unsubscribe: <${url}>\r\n`);
    expect(copy).toContain('\r\nList-ID: <news.example.com>\r\n');
    expect(copy.endsWith(`\r\n\r\nLeave: ${url}\r\n`)).toBe(true);
    expect(copy).not.toContain('X-Waybill');
  }
  expect(end).toBe(text.length);
  expect(world.bytesInFlight).toBe(0);
});

test('a line that is no field ends the header: ours come before it, and the text after it has the link', async () => {
  world = await SmtpWorld.start();
  world.unsubscribing = linksFor('example.com');
  const [from = '', wish = '', ...text] = LETTER;
  expect(await send([from, wish, 'This is no field', 'Subject: Hello', ...text])).toMatch(/queued as/);
  expect(world.lastText).toMatch(
    /\r\nList-ID: <news\.example\.com>\r\n\r\nThis is no field\r\nSubject: Hello\r\n\r\nLeave: https:/,
  );
});

test('what cannot be is refused with what is missing, or with the size', async () => {
  world = await SmtpWorld.start();
  world.unsubscribing = NO_LINKS;
  expect(await send(LETTER)).toMatch(
    /^550 5\.6\.0 X-Waybill-Unsubscribe: .*need server\.public_url with https/,
  );
  world.unsubscribing = linksFor('example.com');
  expect(await send(['List-Unsubscribe: <https://a.example>', ...LETTER])).toMatch(
    /^550 5\.6\.0 X-Waybill-Unsubscribe: The header List-Unsubscribe cannot be set/,
  );
  world.options.limits.maxMessageBytes = 1000;
  const long = [...LETTER.slice(0, -1), 'x'.repeat(500), '.'];
  expect(await send(long)).toMatch(
    /^552 5\.3\.4 Every recipient gets a copy .* have 2\d{3} bytes, more than 1000 /,
  );
  expect(world.intake.submissions).toEqual([]);
  expect(world.bytesInFlight).toBe(0);
});

test('only a key that may change the suppression list may ignore it', async () => {
  world = await SmtpWorld.start();
  const letter = ['From: a@example.com', 'X-Waybill-Suppression: ignore', '', 'Hi.', '.'];
  expect(await send(letter)).toMatch(/^550 5\.7\.1 X-Waybill-Suppression: .* scope suppressions:write/);
  expect(world.intake.submissions).toEqual([]);
});
