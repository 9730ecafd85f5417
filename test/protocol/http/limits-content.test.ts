import { afterEach, expect, test } from 'vitest';
import type { IngestLimits } from '../../../src/ingest/http/options.ts';
import { type Answer, formOf, MAIL, World } from './world.ts';

/** Every limit on what a submission holds: what it allows is taken, one more is refused and says which limit it was. */

let world: World | null = null;
afterEach(() => world?.close());

const names = (count: number) => Array.from({ length: count }, (_, i) => `n${i}`);
const object = (count: number) => Object.fromEntries(names(count).map((name) => [name, 'x']));
const files = (count: number) => names(count).map((filename) => ({ filename, content: 'QQ==' }));
const HEADERS = { 'X-A': 'x'.repeat(97) };

type Case = readonly [
  limits: Partial<IngestLimits>,
  allowed: object,
  oneMore: object,
  fault: string,
  named: string,
];

test.each<Case>([
  [
    { maxHeaders: 3 },
    { headers: object(3) },
    { headers: object(4) },
    '/headers header_count',
    'api.max_headers',
  ],
  [{ maxHeaders: 0 }, {}, { headers: object(1) }, '/headers header_count', 'api.max_headers'],
  [
    { maxHeaderBytes: 100 },
    { headers: HEADERS },
    { headers: { 'X-AB': HEADERS['X-A'] } },
    '/headers header_size',
    'api.max_header_bytes',
  ],
  [{ maxTags: 2 }, { tags: names(2) }, { tags: names(3) }, '/tags too_many', 'api.max_tags'],
  [
    { maxMetadata: 2 },
    { metadata: object(2) },
    { metadata: object(3) },
    '/metadata too_many',
    'api.max_metadata',
  ],
  [
    { maxAttachments: 2 },
    { attachments: files(2) },
    { attachments: files(3) },
    '/attachments too_many',
    'api.max_attachments',
  ],
  [
    { maxRecipients: 2 },
    { to: ['a@x.test'], bcc: ['b@x.test'] },
    { to: ['a@x.test'], cc: ['c@x.test'], bcc: ['b@x.test'] },
    '/to too_many_recipients',
    'api.max_recipients',
  ],
])('%j in JSON', async (limits, allowed, oneMore, fault, named) => {
  world = await World.start({ limits });
  const key = await world.key();
  await world.accept(key, allowed);
  const answer = await world.post(key, { ...MAIL, ...oneMore });
  const [found] = answer.json.errors ?? [];
  expect(`${answer.status} ${found?.pointer} ${found?.code}`).toBe(`400 ${fault}`);
  expect(found?.detail).toContain(named);
});

test('they hold from the next request on, raised or lowered', async () => {
  world = await World.start({ limits: { maxTags: 1 } });
  const key = await world.key();
  expect(await world.refuse(key, { tags: ['a', 'b'] })).toEqual(['/tags too_many']);
  world.options.limits.maxTags = 2;
  await world.accept(key, { tags: ['a', 'b'] });
});

type Field = readonly [string, string | File];

test.each<[string, Partial<IngestLimits>, (count: number) => Field[], number, string]>([
  ['tags', { maxTags: 2 }, (count) => names(count).map((name) => ['o:tag', name]), 2, '/o:tag too_many'],
  [
    'metadata',
    { maxMetadata: 2 },
    (count) => names(count).map((name) => [`v:${name}`, 'x']),
    2,
    '/metadata too_many',
  ],
  [
    'headers',
    { maxHeaders: 2 },
    (count) => names(count).map((name) => [`h:${name}`, 'x']),
    2,
    '/headers header_count',
  ],
  [
    'attachments',
    { maxAttachments: 2 },
    (count) => names(count).map((name) => ['attachment', new File(['x'], name)]),
    2,
    '/attachment too_many',
  ],
])('%s of a form', async (_, limits, fields, max, fault) => {
  world = await World.start({ limits });
  const key = await world.key();
  const form = (count: number) =>
    formOf([['from', 'a@x.test'], ['to', 'b@x.test'], ['text', 'x'], ...fields(count)]);
  expect((await world.postForm(key, form(max))).status).toBe(202);
  const answer = await world.postForm(key, form(max + 1));
  expect(answer.json.errors?.map(({ pointer, code }) => `${pointer} ${code}`)).toEqual([fault]);
});

async function atLimit(limits: Partial<IngestLimits>, send: (more: number) => Promise<Answer>) {
  world = await World.start({ limits });
  const answers = [await send(0), await send(1)];
  return answers.map(({ status, json }) => `${status} ${json['code'] ?? ''}`.trim());
}

async function send(body: string, type: string): Promise<Answer> {
  if (world === null) throw new Error('no world');
  return world.ask({ method: 'POST', key: await world.key(), body, headers: { 'Content-Type': type } });
}

const sendJson = (text: string) => send(text, 'application/json');

test('how deep JSON is nested', async () => {
  const nested = (levels: number) => `{"attachments":${'['.repeat(levels - 1)}${']'.repeat(levels - 1)}}`;
  const answers = await atLimit({ maxJsonDepth: 5 }, (more) => sendJson(nested(5 + more)));
  expect(answers).toEqual(['400 invalid_submission', '400 json_too_complex']);
});

test('how many values JSON has', async () => {
  const values = (count: number) => JSON.stringify({ ...MAIL, to: Array(count).fill('a@x.test') });
  const answers = await atLimit({ maxJsonValues: 12 }, (more) => sendJson(values(7 + more)));
  expect(answers).toEqual(['202', '400 json_too_complex']);
});

/** A form of these fields; the first part has further header lines. */
function sendForm(fields: readonly (readonly [string, string])[], headerLines = '') {
  const parts = fields.map(([name, value], place) => {
    const more = place === 0 ? headerLines : '';
    return `--b\r\nContent-Disposition: form-data; name=${name}${more}\r\n\r\n${value}\r\n`;
  });
  return send(`${parts.join('')}--b--\r\n`, 'multipart/form-data; boundary=b');
}

const FORM = [
  ['from', 'a@x.test'],
  ['to', 'b@x.test'],
  ['text', 'x'],
] as const;

test('how many parts a form has', async () => {
  const more = [
    ['cc', 'c@x.test'],
    ['bcc', 'd@x.test'],
  ] as const;
  const answers = await atLimit({ maxFormParts: 4 }, (count) =>
    sendForm([...FORM, ...more.slice(0, 1 + count)]),
  );
  expect(answers).toEqual(['202', '400 too_many_parts']);
});

test('how many header lines a part has', async () => {
  const answers = await atLimit({ maxPartHeaders: 4 }, (more) =>
    sendForm(
      FORM,
      names(3 + more)
        .map((name) => `\r\n${name}: 1`)
        .join(''),
    ),
  );
  expect(answers).toEqual(['202', '400 too_many_part_headers']);
});

test('how many bytes the header of a part has', async () => {
  const before = '\r\nContent-Disposition: form-data; name=from\r\nA: '.length;
  const answers = await atLimit({ maxPartHeaderBytes: 200 }, (more) =>
    sendForm(FORM, `\r\nA: ${'x'.repeat(200 - before + more)}`),
  );
  expect(answers).toEqual(['202', '400 part_header_too_large']);
});
