import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { Installation } from '../../test/support/installation.ts';
import { withAndWithoutServer } from '../../test/support/with-server.ts';
import { formatTimestamp, systemClock } from '../lib/clock.ts';
import { messageUuid } from '../lib/id.ts';
import type { Context } from './context.ts';
import { attemptsText, messageText, pageText } from './message-text.ts';
import { followPages } from './messages.ts';

let here: Installation;
beforeEach(() => {
  here = new Installation();
});
afterEach(() => here.remove());

const LETTER = ['send', '--from', 'a@example.org', '--text', 'hi'];

/** Sends a letter; gives its id. */
async function send(to: string, subject: string): Promise<string> {
  return (await here.json([...LETTER, '--to', to, '--subject', subject])).id;
}

const act = (name: string, id: string) => here.waybill(['messages', name, id]);

withAndWithoutServer(
  () => here,
  (running) => {
    /** Ids that a list gives. */
    async function list(...filter: string[]): Promise<string[]> {
      const { messages } = await here.json(['messages', 'list', ...filter]);
      return messages.map(({ id }: { id: string }) => id);
    }

    test('messages are listed by every filter, page by page', async () => {
      const first = await send('ann@example.net', 'Invoice 7');
      const { createdAt } = await here.json(['messages', 'show', first]);
      const second = await send('Bob <bob+x@example.net>', 'invoice 8');
      const third = await send('carl@elsewhere.example', 'Hello');
      expect(await list('--subject', 'INVOICE')).toEqual([second, first]);
      expect(await list('--to', '@Example.NET', '--limit', '1')).toEqual([second]);
      expect(await list('--to', '@example.net', '--limit', '1', '--before', second)).toEqual([first]);
      expect(await list('--to', 'bob+x@example.net')).toEqual([second]);
      expect(await list('--from', '@example.org')).toEqual([third, second, first]);
      expect(await list('--from', 'b@example.org')).toEqual([]);
      expect(await list('--tag', 'news')).toEqual([]);
      expect(await list('--since', createdAt)).toEqual([third, second, first]);
      expect(await list('--until', createdAt)).toEqual([]);
      const page = await here.waybill(['messages', 'list', '--limit', '1']);
      expect(page.out).toContain(`There are more: repeat the command with --before ${third}`);
    });

    test('a message is shown by its Message-ID', async () => {
      const id = await send('ann@example.net', 'Invoice 7');
      await send('bob@example.net', 'Invoice 8');
      const { messageId } = await here.json(['messages', 'show', id]);
      expect((await here.json(['messages', 'show', messageId])).id).toBe(id);
      expect((await here.waybill(['messages', 'attempts', messageId])).status).toBe(0);
      expect(await act('show', '<nobody@example.org>')).toMatchObject({
        status: 1,
        err: 'There is no message <nobody@example.org>. See: waybill messages list\n',
      });
    });

    test('a message is shown by its id as a UUID, and with blanks around any of its names', async () => {
      const id = await send('ann@example.net', 'Invoice 7');
      await send('bob@example.net', 'Invoice 8');
      const { messageId } = await here.json(['messages', 'show', id]);
      for (const name of [messageUuid(id), messageUuid(id).toUpperCase(), ` ${id} `, `\t${messageId}\n`]) {
        expect((await here.json(['messages', 'show', name])).id).toBe(id);
        const { messages } = await here.json(['messages', 'search', name]);
        expect(messages.map((one: { id: string }) => one.id)).toEqual([id]);
      }
    });

    test('a message is shown without its people, for people and for programs', async () => {
      const id = await send('ann.lee@example.net', 'Results for Ann');
      for (const form of [[], ['--json'], ['--steps']]) {
        const { status, out } = await here.waybill(['messages', 'show', id, '--redact', ...form]);
        expect(status).toBe(0);
        expect(out).toContain('*@example.net');
        expect(out).not.toMatch(/ann|Results/i);
      }
    });

    test('messages are found by words and tokens, and what a query says wrong is noted', async () => {
      const first = await send('ann@example.net', 'Your invoice 7');
      const second = await send('bob@example.net', 'Invoice 8');
      await send('carl@elsewhere.example', 'Hello');
      const search = async (...words: string[]) => {
        const page = await here.json(['messages', 'search', ...words]);
        return page.messages.map(({ id }: { id: string }) => id);
      };
      expect(await search('invoice')).toEqual([second, first]);
      expect(await search('"your invoice"')).toEqual([first]);
      expect(await search('invoice', 'to:@example.net', '--limit', '1')).toEqual([second]);
      expect(await search('invoice', '--before', second)).toEqual([first]);
      expect(await search('from:a@example.org -invoice')).toHaveLength(1);
      const { out } = await here.waybill(['messages', 'search', 'colour:red', 'hello']);
      expect(out).toContain('Note: There is no token colour:.');
      expect(out).not.toContain('carl@elsewhere.example');
    });

    test('a filter that cannot be read is told by name, with status 2', async () => {
      await send('ann@example.net', 'Hi');
      const wrong = ['messages', 'list', '--since', 'yesterday', '--to', 'ann'];
      const { status, err } = await here.waybill(wrong);
      expect([status, err]).toEqual([
        2,
        'to: Must be an address such as ann@example.com, or @example.com for a whole domain, not "ann".\n' +
          'since: Must be an RFC 3339 time such as 2026-11-20T11:15:00Z, not "yesterday".\n',
      ]);
    });

    test('a page that cannot be gone on from is told', async () => {
      await send('ann@example.net', 'Hi');
      const { status, err } = await here.waybill(['messages', 'list', '--before', 'nonsense']);
      expect([status, err]).toEqual([
        2,
        'before: must be the id in the last line of a page, not "nonsense".\n',
      ]);
    });

    test('a message is cancelled once, and tried again by hand', async () => {
      const id = await send('ann@example.net', 'Hi');
      expect((await act('retry', id)).err).toMatch(/^Only failed and retrying recipients can be retried/);
      const cancelled = await here.json(['messages', 'cancel', id]);
      expect(cancelled).toMatchObject({ id, status: 'failed', outcome: 'cancelled' });
      const again = await act('cancel', id);
      expect([again.status, again.err]).toEqual([
        1,
        expect.stringMatching(/^Only waiting recipients can be cancelled/),
      ]);
      const retried = await act('retry', id);
      expect([retried.status, retried.out]).toEqual([0, expect.stringMatching(/status: +queued/)]);
      expect(retried.out.includes('delivery begins when it starts')).toBe(!running);
    });

    test('a message that waits for its time is given another one, one that does not is not', async () => {
      const inHours = (hours: number) => formatTimestamp(systemClock.wall() + hours * 3_600_000);
      const letter = [...LETTER, '--to', 'ann@example.net', '--subject', 'Hi'];
      const { id } = await here.json([...letter, '--send-at', inHours(2)]);
      const move = (which: string, ...time: string[]) =>
        here.waybill(['messages', 'reschedule', which, ...time]);
      const sendAt = inHours(1);
      const moved = await here.json(['messages', 'reschedule', id, '--send-at', sendAt]);
      expect(moved).toMatchObject({ id, status: 'queued', sendAt, nextAttemptAt: sendAt });
      expect((await move(id, '--send-at', inHours(3))).out).toMatch(/status: +queued/);
      expect((await move(id)).err).toContain('--send-at');
      expect((await move(id, '--send-at', 'tomorrow')).err).toMatch(/^sendAt: Must be a date/);
      await here.json(['messages', 'cancel', id]);
      const refused = await move(id, '--send-at', sendAt);
      expect([refused.status, refused.err]).toEqual([
        1,
        expect.stringMatching(/^Only a message that still waits/),
      ]);
    });

    test('a message that was not tried has no attempts', async () => {
      const id = await send('ann@example.net', 'Hi');
      expect(await here.json(['messages', 'attempts', id])).toEqual({ attempts: [] });
      expect((await act('attempts', id)).out).toBe('It has not been tried yet.\n');
    });

    test.each(['show', 'attempts', 'cancel', 'retry'])(
      '%s of what does not exist has status 1',
      async (name) => {
        await send('ann@example.net', 'Hi');
        for (const id of ['msg_none', `msg_0${'0'.repeat(25)}`]) {
          const { status, err } = await act(name, id);
          expect([status, err]).toEqual([1, `There is no message ${id}. See: waybill messages list\n`]);
        }
      },
    );
  },
);

test('attempts are shown a recipient a line, what peers wrote made harmless', () => {
  const none = { queueMs: null, dnsMs: null, tlsMs: null, mailMs: null, replyMs: null };
  const timings = { ...none, connectMs: 1, transferMs: 2, totalMs: 12 };
  const result = { class: 'transient', code: 451, enhancedCode: '4.7.1', providerMessageId: null } as const;
  const attempt = {
    number: 1,
    startedAt: '2026-11-20T00:00:00.000Z',
    relay: 'out',
    host: 'mx.example.net',
    address: '192.0.2.1',
    localAddress: null,
    tls: null,
    security: null,
    dns: [],
    reused: false,
    timings,
    steps: [],
    results: [
      { ...result, recipient: 'ann@example.net', outcome: 'deferred' as const, reply: 'wait\u001b[2J' },
    ],
  };
  expect(attemptsText({ attempts: [attempt], hasMore: false }).split('\n')).toEqual([
    'NO  STARTED                   RELAY  HOST            TOOK   RECIPIENT        OUTCOME   REPLY',
    '1   2026-11-20T00:00:00.000Z  out    mx.example.net  12 ms  ann@example.net  deferred  wait\\u001b[2J',
  ]);
});

test.each([
  [
    { replyCode: 452, enhancedCode: '4.2.2', message: 'The mailbox is full' },
    '452 4.2.2 The mailbox is full',
  ],
  [
    { replyCode: 452, enhancedCode: '4.2.2', message: '4.2.2 The mailbox is full' },
    '452 4.2.2 The mailbox is full',
  ],
  [{ message: 'connection refused' }, 'connection refused'],
])('the last error of %j is shown with its codes, each once', (error, line) => {
  const shown = messageText({ metadata: {}, recipients: [], lastError: error } as never, null);
  expect(shown).toContain(`lastError:         ${line}\n`);
});

test('a page without messages says that there are none only where nothing is left to look at', () => {
  expect(pageText({ messages: [], next: null })).toBe('There are no such messages.');
  const text = pageText({ messages: [], next: 'msg_01jd4g6v8000000000000000ab' });
  expect(text).toMatch(
    /^There are none among the messages accepted since 2024-\d\d-\d\dT.*Z, but older ones were not/,
  );
  expect(text).toContain('repeat the command with --before msg_01jd4g6v8000000000000000ab');
  expect(pageText({ messages: [], next: 'Y3Vyc29y' })).toMatch(
    /^There are none among the newest messages, but older/,
  );
});

test('a list goes on over pages without messages until it finds one, and tells a person how far it is', async () => {
  const pages = [[], [], ['one'], ['two']];
  const asked: (string | null)[] = [];
  const told: string[] = [];
  const terminal = { columns: () => 80, err: (text: string) => void told.push(text) };
  const context = { terminal, clock: { mono: () => 0 } } as unknown as Context;
  const page = await followPages(
    context,
    {},
    { limit: 5, before: null as string | null },
    1,
    async ({ limit, before }) => {
      asked.push(before);
      return { messages: pages[asked.length - 1] ?? [], next: `${limit}-${asked.length}` };
    },
  );
  expect(page).toEqual({ messages: ['one'], next: '5-3' });
  expect(asked).toEqual([null, '5-1', '5-2']);
  expect(told).toEqual(['Searching older messages …']);
});

test('a list stays narrow, whatever is in it', () => {
  const message = {
    id: 'msg_1',
    status: 'queued',
    createdAt: '2026-11-20T00:00:00.000Z',
    outcome: null,
    relay: null,
    from: `"${'n'.repeat(90)}" <a@example.org>`,
    subject: '\u{1f4ee}'.repeat(200),
    to: Array.from({ length: 999 }, (_, index) => `u${index}@example.com`),
    cc: ['c@example.com'],
    bcc: [],
  };
  const [, line = ''] = pageText({ messages: [message], next: null } as never).split('\n');
  expect(line).toContain('  u0@example.com and 999 more  ');
  expect([...line].length).toBeLessThan(220);
  expect(line).toMatch(/ "n+\u2026 .* \u{1f4ee}+\u2026$/u);
});

test('a message that waits is shown with its rule and group, and with what cures it', async () => {
  for (const [name, more] of [
    ['out', ['--default']],
    ['spare', []],
  ] as const)
    await here.waybill(['relays', 'add', name, '--type', 'smtp', '--host', `${name}.example.net`, ...more]);
  const rules = join(here.folder, 'rules.yaml');
  writeFileSync(rules, '[{ name: news, match: { tag: news }, via: [out, spare] }]');
  expect(await here.waybill(['routes', 'publish', rules])).toMatchObject({ status: 0 });
  const shown = async (id: string) => (await here.waybill(['messages', 'show', id])).out;
  for (const name of ['out', 'spare']) await here.waybill(['queue', 'pause', name]);
  const id = (await here.json([...LETTER, '--to', 'ann@example.net', '--tag', 'news'])).id;
  const line = /^ann@example\.net +news +out, spare +out is paused: waybill queue resume out$/m;
  expect(await shown(id)).toMatch(line);
  for (const name of ['out', 'spare']) await here.waybill(['queue', 'drain', name]);
  const lost = await shown((await here.json([...LETTER, '--to', 'bob@example.net'])).id);
  expect(lost).toMatch(/default +out +no route; out is draining: waybill queue resume out$/m);
  await here.waybill(['queue', 'resume', 'out']);
  await here.waybill(['relays', 'disable', 'out']);
  expect(await shown(id)).toMatch(/out is disabled: waybill relays enable out$/m);
});

test('mail whose relay begins to warm up on another day says on which, and that it will have expired', async () => {
  const relay = ['relays', 'add', 'warm', '--type', 'smtp', '--host', 'smtp.example.net'];
  const added = await here.waybill([...relay, '--warmup-start', '2099-01-01', '--default']);
  expect(added.out).toMatch(
    /begins on 2099-01-01 .*sends nothing before.*WARNING: mail that is accepted now expires/,
  );
  const { id } = await here.json([...LETTER, '--to', 'ann@example.net']);
  const { out } = await here.waybill(['messages', 'show', id]);
  expect(out).toMatch(/warm gets no mail before 2099-01-01 \(UTC\).*it expires before that/);
  expect((await here.waybill(['relays', 'list'])).out).toMatch(
    /warm \(default\).* spent .*begins 2099-01-01/,
  );
});

test('a priority is given with the message, and a wrong one is refused', async () => {
  const dry = async (priority: string) =>
    await here.waybill([...LETTER, '--to', 'ann@example.net', '--priority', priority, '--dry-run']);
  await here.waybill(['relays', 'add', 'out', '--type', 'smtp', '--host', 'out.example.net', '--default']);
  const way = await dry('bulk');
  expect(way).toMatchObject({ status: 0, err: '' });
  // Nobody signs for the domain: nothing may read as if DMARC passed.
  expect(way.out).toMatch(/ALIGNED\n.* by SPF only\n/);
  expect(await dry('urgent')).toMatchObject({
    status: 2,
    err: expect.stringContaining('high, normal, bulk'),
  });
});

test('a message can demand TLS all the way', async () => {
  const { id } = await here.json([...LETTER, '--to', 'ann@example.net', '--require-tls']);
  expect(await here.json(['messages', 'show', id])).toMatchObject({ tls: 'required' });
});

test('a message is checked before it is sent, and afterwards', async () => {
  const hasty = [
    'send',
    '--from',
    'a@example.com',
    '--to',
    'b@example.net',
    '--html',
    '<p>Hello {{name}}</p>',
  ];
  const dry = await here.waybill([...hasty, '--dry-run']);
  expect(dry.status).toBe(0);
  expect(dry.out).toMatch(/^ERROR {4}placeholder {2}\/html#L1\n {9}"\{\{name\}\}" stands/m);
  expect(dry.out).toMatch(/\n1 error, 2 warnings, 0 hints\. /);
  const { id } = await here.json(hasty);
  const checked = await here.waybill(['messages', 'check', id]);
  expect(checked.status).toBe(1);
  expect(checked.out).toMatch(/^WARNING {2}subject-empty {2}\/subject$/m);
  const { id: good } = await here.json([...LETTER, '--to', 'ann@example.net', '--subject', 'Hi']);
  expect(await here.waybill(['messages', 'check', good])).toMatchObject({
    status: 0,
    out: 'Nothing found.\n',
  });
});
