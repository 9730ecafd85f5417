import { afterEach, beforeEach, expect, test } from 'vitest';
import { Installation, type Running } from '../../test/support/installation.ts';
import type { Door } from '../control/door.ts';

/** `waybill inbox …` over answers of the test: what is asked for, and how it is told. */

const RECORD = {
  id: 'msg_01m7v41f004008fyzq8yebgvfy',
  status: 'delivered',
  timestamp: '2026-11-20T00:00:00.000Z',
  createdAt: '2026-11-20T00:00:00.000Z',
  updatedAt: '2026-11-20T00:00:00.000Z',
  from: 'shop@example.com',
  to: ['ann@example.net', 'bob@example.net'],
  cc: [],
  bcc: [],
  subject: 'Your code',
  tags: [],
  metadata: {},
  sizeBytes: 100,
  messageId: '<1@example.com>',
  source: 'smtp',
  box: 'worker-1',
  priority: 'normal',
  attempts: 1,
  outcome: 'captured',
  key: 'tests',
  captured: true,
};
const PREVIEW = {
  subject: 'Your code',
  from: 'shop@example.com',
  headers: [],
  hasHtml: true,
  text: 'Your code is 135790.\u001b[2J',
  attachments: [
    { number: 0, filename: 'a.txt', contentType: 'text/plain', sizeBytes: 6, inline: false, contentId: null },
  ],
  links: [{ url: 'https://example.com/in', text: 'Sign in' }],
  codes: ['135790'],
  notes: [],
};

let here: Installation;
let running: Running;
let asked: [name: string, request: unknown][];
/** Pages that deleting takes until nothing is left. */
let pages: number;

beforeEach(async () => {
  here = new Installation();
  asked = [];
  pages = 1;
  const opened = await here.open();
  const answers: Readonly<Record<string, (request: { readonly ids?: readonly string[] | null }) => unknown>> =
    {
      inbox: () => ({
        messages: [RECORD],
        next: RECORD.id,
        notes: ['There is no key x.'],
        bytes: 1,
        maxBytes: 2,
      }),
      messagePreview: () => PREVIEW,
      deleteCaptured: ({ ids }) => ({ deleted: ids?.length ?? 500, more: ids === null && --pages > 0 }),
      releaseCaptured: () => ({ id: 'msg_01m7v41f004008fyzq8yebgvfz' }),
    };
  const call = async (_actor: unknown, name: string, request: object) => {
    asked.push([name, request]);
    return answers[name]?.(request);
  };
  // Sound because only these are asked for.
  const control = await here.listen({ ...opened, door: { call } as unknown as Door });
  running = {
    close: async () => {
      await control.close();
      await opened.close();
    },
  };
});
afterEach(async () => {
  await running.close();
  here.remove();
});

test('list shows which box and key mail is of, and what could not be read', async () => {
  const { out } = await here.waybill([
    'inbox',
    'list',
    'subject:code',
    'now',
    '--box',
    'worker-1',
    '--limit',
    '5',
  ]);
  expect(asked).toEqual([
    ['inbox', { query: 'subject:code now', key: null, box: 'worker-1', limit: 5, before: null }],
  ]);
  expect(out).toMatch(/ID +CAPTURED +KEY +BOX +TO +SUBJECT/);
  expect(out).toMatch(/tests +worker-1 +ann@example\.net and 1 more +Your code/);
  expect(out).toContain('There is no key x.');
  expect(out).toContain(`repeat the command with --before ${RECORD.id}`);
});

test('show tells what a message says, and nothing that misleads the terminal', async () => {
  const { out } = await here.waybill(['inbox', 'show', RECORD.id]);
  expect(out).toContain('Codes:   135790');
  expect(out).toContain('Link:    https://example.com/in (Sign in)');
  expect(out).toContain('File:    a.txt, text/plain, 6 bytes');
  expect(out).toContain('Your code is 135790.');
  expect(out).not.toContain('\u001b');
});

test('delete goes on until all is gone, but for what comes in meanwhile', async () => {
  pages = 3;
  expect((await here.waybill(['inbox', 'delete', '--box', 'worker-1'])).out).toBe('Deleted 1500 messages.\n');
  const which = { key: null, box: 'worker-1' };
  expect(asked).toEqual([
    ['inbox', { ...which, query: '', limit: 1, before: null }],
    ...Array.from({ length: 3 }, () => ['deleteCaptured', { ...which, ids: null, upTo: RECORD.id }]),
  ]);
});

test('delete takes ids, and never everything by mistake', async () => {
  const ids = Array.from({ length: 501 }, (_, n) => `msg_${n}`);
  expect(await here.json(['inbox', 'delete', ...ids])).toEqual({ deleted: 501 });
  expect(asked.map(([, request]) => (request as { ids: string[] }).ids.length)).toEqual([500, 1]);
  for (const wrong of [[], ['msg_1', '--all'], ['--all', '--box', 'a']])
    expect((await here.waybill(['inbox', 'delete', ...wrong])).status).toBe(2);
});

test('release names the relay, and may name others', async () => {
  const release = ['inbox', 'release', RECORD.id, '--relay', 'out'];
  expect((await here.waybill(release)).out).toBe('Queued as msg_01m7v41f004008fyzq8yebgvfz.\n');
  await here.waybill([...release, '--to', 'a@example.net', '--to', 'b@example.net']);
  expect(asked.map(([, request]) => request)).toMatchObject([
    { id: RECORD.id, relay: 'out' },
    { to: ['a@example.net', 'b@example.net'] },
  ]);
});
