import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { fieldsFromJson } from '../../../src/ingest/http/schema.ts';
import { generateSecret } from '../../../src/lib/id.ts';
import { seededRandom } from '../../../src/lib/random.ts';
import { wrongKey } from '../../support/wrong-key.ts';
import { formOf, MAIL, World } from './world.ts';

/** Refusals teach: they name the field, the rule and the cure. */

let world: World;
let key: string;

beforeAll(async () => {
  world = await World.start();
  key = await world.key();
});
afterAll(() => world.close());

/** `pointer code`, and the detail, of each fault of a submission. */
async function faults(body: object | string | Buffer) {
  const headers = { 'Content-Type': 'application/json' };
  const answer = await world.ask({ method: 'POST', key, body, headers });
  expect(answer.status).toBe(400);
  return (answer.json.errors ?? []).map((fault) => [`${fault.pointer} ${fault.code}`, fault.detail] as const);
}

async function formFaults(...fields: (readonly [string, string | File])[]) {
  const answer = await world.postForm(key, formOf([...Object.entries(FORM), ...fields]));
  expect(answer.status).toBe(400);
  return (answer.json.errors ?? []).map((fault) => [`${fault.pointer} ${fault.code}`, fault.detail] as const);
}

const FORM = { from: 'jane@example.com', to: 'bob@example.org', text: 'Hi.' };

const one = (place: string, cure: string) => [[place, expect.stringContaining(cure)]];

describe('a field that does not exist names the one that was meant, in JSON', () => {
  test.each([
    ['attachment', 'Did you mean "attachments"?'],
    ['htm', 'Did you mean "html"?'],
    ['BCC', 'Did you mean "bcc"?'],
    ['ccc', 'Did you mean "cc"?'],
    ['subjct', 'Did you mean "subject"?'],
    ['dry_run', 'Use "dryRun".'],
    ['send_at', 'Use "sendAt".'],
    ['Recipients', 'Use "to".'],
    ['reply_to', 'Set the header: "headers": {"Reply-To": "…"}.'],
    ['replyTo', '"headers": {"Reply-To": "…"}'],
    ['ReplyToAddresses', '"headers": {"Reply-To": "…"}'],
    ['scheduled_at', 'Use "sendAt".'],
    ['personalizations', '"to", "cc" and "bcc"'],
    ['template_id', 'Use "template".'],
    ['TemplateModel', 'Use "variables".'],
    ['HtmlBody', 'Use "html".'],
    ['TextBody', 'Use "text".'],
    ['From', 'Did you mean "from"?'],
    ['Tag', 'Use "tags".'],
    ['o:tag', 'Use "tags".'],
    ['categories', 'Use "tags".'],
    ['custom_args', 'Use "metadata"'],
    ['v:order', 'Use "metadata"'],
    ['h:X-Campaign', 'Use "headers"'],
    ['TrackOpens', 'leave it out'],
    ['MessageStream', 'leave it out'],
    ['Source', 'Use "from".'],
    ['Content', 'Use "text" and "html".'],
    ['o:testmode', 'test key'],
  ])('%s', async (name, cure) => {
    const [place, detail = ''] = (await faults({ ...MAIL, [name]: 'x' }))[0] ?? [];
    expect([place, detail]).toEqual([`/${name} unknown_field`, expect.stringContaining(cure)]);
    expect(detail).toContain(JSON.stringify(name));
  });
  test('and nothing where nothing is near', async () =>
    expect(await faults({ ...MAIL, zzzzzz: 1 })).toEqual([
      ['/zzzzzz unknown_field', 'There is no field "zzzzzz".'],
    ]));
  test.each([
    ['name', 'Use "filename".'],
    ['file_name', 'Did you mean "filename"?'],
    ['type', 'Use "contentType".'],
    ['ContentType', 'Did you mean "contentType"?'],
    ['path', 'files are not fetched'],
    ['cid', 'Use "contentId".'],
  ])('%s of an attachment', async (name, cure) =>
    expect(await faults({ ...MAIL, attachments: [{ filename: 'a', content: '', [name]: 'x' }] })).toEqual(
      one(`/attachments/0/${name} unknown_field`, cure),
    ),
  );
});

describe('a field that does not exist names the one that was meant, in a form', () => {
  test.each([
    ['attachments', 'Use "attachment".'],
    ['htm', 'Did you mean "html"?'],
    ['tags', 'Use "o:tag".'],
    ['sendAt', 'Use "o:send-at".'],
    ['o:sendat', 'Use "o:send-at".'],
    ['dryRun', 'Use "o:dry-run".'],
    ['o:trackin', 'Did you mean "o:tracking"?'],
    ['reply_to', 'Set the header: "h:Reply-To".'],
    ['headers', 'Use "h:<Name>"'],
    ['metadata', 'Use "v:<name>"'],
    ['variables', 'Use "t:variables".'],
    ['recipient-variables', '"to", "cc" and "bcc"'],
  ])('%s', async (name, cure) =>
    expect(await formFaults([name, 'x'])).toEqual(one(`/${name} unknown_field`, cure)),
  );
  test.each([
    ['file', 'unknown_field', 'Use "attachment".'],
    ['o:tag', 'type', 'put files into "attachment"'],
    ['v:a', 'type', 'put files into "attachment"'],
  ])('a file in %s', async (name, code, cure) =>
    expect(await formFaults([name, new File(['x'], 'a.txt')])).toEqual(one(`/${name} ${code}`, cure)),
  );
});

test.each([
  ['o:skip-verification', 'yes', '/o:skip-verification unknown_field', 'certificates'],
  ['o:deliverytime-optimize-period', '24h', '/o:deliverytime-optimize-period unknown_field', 'o:send-at'],
  ['h:', 'x', '/h: header_name', 'after "h:"'],
  ['v:', 'x', '/v: metadata_name', 'after "v:"'],
])('%s in a form', async (name, value, place, cure) =>
  expect(await formFaults([name, value])).toEqual(one(place, cure)),
);

describe('a value that cannot be taken shows one that can', () => {
  test.each<[string, object, string, string]>([
    ['no sender', { from: undefined }, '/from required', '"Jane Doe <jane@example.com>"'],
    ['an empty sender', { from: '' }, '/from required', '"Jane Doe <jane@example.com>"'],
    ['an object as recipient', { to: [{ email: 'a@x.org' }] }, '/to/0 type', '"Jane Doe <jane@example.com>"'],
    ['a number as recipients', { to: 1 }, '/to type', '["Jane Doe <jane@example.com>"]'],
    ['a list of headers', { headers: [{ name: 'X' }] }, '/headers type', '{"X-Campaign": "spring"}'],
    [
      'a pair as tag',
      { tags: [{ name: 'a', value: 'b' }] },
      '/tags/0 type',
      'put a name with a value into metadata',
    ],
    ['a number in metadata', { metadata: { order: 4711 } }, '/metadata/order type', '"4711", in quotes'],
    [
      'a name of metadata',
      { metadata: { 'order id': '1' } },
      '/metadata/order id metadata_name',
      '"order_id"',
    ],
    ['a list as text', { text: ['Hi.'] }, '/text type', '"Hi."'],
    ['a text as flag', { dryRun: 'true' }, '/dryRun type', 'without quotes'],
    ['a time without zone', { sendAt: '2026-11-20 11:15' }, '/sendAt timestamp', '2026-11-20T11:15:00Z'],
    ['a time in numbers', { sendAt: 1_795_000_000 }, '/sendAt type', '2026-11-20T11:15:00Z'],
    [
      'a name with a comma',
      { from: 'Doe, Jane <j@x.org>' },
      '/from address_unquoted_comma',
      '"Doe, Jane" <j@x.org>',
    ],
    [
      'one in an array',
      { to: ['Doe, Jane <j@x.org>'] },
      '/to/0 address_unquoted_comma',
      '"Doe, Jane" <j@x.org>',
    ],
    [
      'one in a list',
      { cc: 'a@x.org, Doe, Jane <j@x.org>' },
      '/cc address_unquoted_comma',
      '"Doe, Jane" <j@x.org>',
    ],
    [
      'one in a header',
      { headers: { 'Reply-To': 'Doe, Jane <j@x.org>' } },
      '/headers/Reply-To header_address',
      '"Doe, Jane" <j@x.org>',
    ],
    ['a name with a colon', { to: 'Team: Jane <j@x.org>' }, '/to address_group', '"Team: Jane" <j@x.org>'],
    ['a bare IP address', { to: ['a@192.0.2.1'] }, '/to/0 address_domain', '[192.0.2.1]'],
    [
      'a header that is a field',
      { headers: { Subject: 'x' } },
      '/headers/Subject header_forbidden',
      'the field "subject"',
    ],
    ['a folded header', { headers: { 'X-A': 'a\r\n b' } }, '/headers/X-A header_value', 'on one line'],
    [
      'a path as file name',
      { attachments: [{ filename: 'a/b.txt', content: '' }] },
      '/attachments/0/filename attachment_filename',
      '"report.pdf"',
    ],
    ['no file name', { attachments: [{ content: '' }] }, '/attachments/0/filename required', '"report.pdf"'],
    [
      'no content',
      { attachments: [{ filename: 'a' }] },
      '/attachments/0/content required',
      'the file as base64',
    ],
    [
      'base64 in lines',
      { attachments: [{ filename: 'a', content: 'QUJD\nQUJD' }] },
      '/attachments/0/content base64',
      'join its lines',
    ],
    [
      'base64url',
      { attachments: [{ filename: 'a', content: 'QU_-' }] },
      '/attachments/0/content base64',
      'base64url',
    ],
    [
      'base64 without padding',
      { attachments: [{ filename: 'a', content: 'QQ' }] },
      '/attachments/0/content base64',
      'end it in "=="',
    ],
    [
      'a data URL',
      { attachments: [{ filename: 'a', content: 'data:text/plain;base64,QQ==' }] },
      '/attachments/0/content base64',
      'remove everything',
    ],
    [
      'text as content',
      { attachments: [{ filename: 'a', content: 'Hello, world' }] },
      '/attachments/0/content base64',
      "the file's bytes",
    ],
    ['a priority', { priority: 'urgent' }, '/priority priority', '"high", "normal" or "bulk"'],
  ])('%s', async (_, fields, place, cure) =>
    expect(await faults({ ...MAIL, ...fields })).toEqual(one(place, cure)),
  );
  test('a name with a comma in a form', async () =>
    expect(await formFaults(['to', 'Doe, Jane <j@x.org>'])).toEqual(
      one('/to/1 address_unquoted_comma', '"Doe, Jane" <j@x.org>'),
    ));
  test('an array instead of an object', async () =>
    expect(await faults('[]')).toEqual(one(' type', '{"from": "jane@example.com"')));
});

describe('JSON that a parser would take without a word', () => {
  test.each([
    ['a name twice', '{"to":"a@x.org","to":"b@x.org"}', '/to duplicate_name'],
    ['a name twice, deep inside', '{"metadata":{"a":"1","\\u0061":"2"}}', '/metadata/a duplicate_name'],
    ['half a surrogate pair', '{"text":"\\ud800"}', '/text lone_surrogate'],
    ['__proto__', '{"__proto__":{"dryRun":true}}', '/__proto__ forbidden_name'],
    ['__proto__ in metadata', '{"metadata":{"__proto__":"x"}}', '/metadata/__proto__ forbidden_name'],
    [
      'constructor',
      '{"from":"a@x.org","to":"b@x.org","text":"x","constructor":{}}',
      '/constructor unknown_field',
    ],
    ['a huge number', '{"from":1e400,"to":"b@x.org","text":"x"}', '/from type'],
  ])('%s is pointed to', async (_, text, place) =>
    expect((await faults(text)).map(([found]) => found)).toEqual([place]),
  );
  test.each([
    ['a hundred thousand levels', '['.repeat(100_000), 'json_too_complex', 'flatten it'],
    ['a byte order mark', '\ufeff{}', 'malformed_json', 'send it without'],
    ['a tail', '{}{}', 'malformed_json', 'at position 2'],
    ['nothing', '', 'malformed_json', 'is empty'],
    ['bytes that are no UTF-8', Buffer.from([0x22, 0xff, 0x22]), 'invalid_utf8', 'encode it as UTF-8'],
  ])('%s is 400 with a cure', async (_, body, code, cure) => {
    const headers = { 'Content-Type': 'application/json' };
    const answer = await world.ask({ method: 'POST', key, body, headers });
    expect([answer.status, answer.json['code']]).toEqual([400, code]);
    expect(answer.json['detail']).toContain(cure);
  });
  test('constructor and toString are names of metadata like any other', async () =>
    expect((await world.accept(key, { metadata: { constructor: 'a', toString: 'b' } })).metadata).toEqual({
      constructor: 'a',
      toString: 'b',
    }));
});

test('why a key is refused stands in the log, once, and never in the answer', async () => {
  const good = await world.key();
  const reasons: readonly [reason: string, authorization: string | null][] = [
    ['missing', null],
    ['malformed', 'Bearer key'],
    ['checksum_wrong', `Bearer ${wrongKey(good)}`],
    ['unknown', `Bearer ${generateSecret(seededRandom(99), 'live')}`],
    ['expired', `Bearer ${await world.key({ expiresAt: world.clock.wall() })}`],
    ['revoked', `Bearer ${await world.key({ revokedAt: world.clock.wall() })}`],
  ];
  const answers = new Set<string>();
  for (const [reason, authorization] of reasons) {
    world.lines.length = 0;
    const headers = authorization === null ? {} : { Authorization: authorization };
    const { status, headers: told, text, json } = await world.ask({ headers });
    const { date: _, 'x-request-id': requestId, ...rest } = told;
    expect(json['requestId']).toBe(requestId);
    answers.add(JSON.stringify([status, rest, text.replace(String(requestId), '')]));
    expect(world.noted).toEqual([`api.key_refused ${reason}`]);
  }
  expect(answers.size).toBe(1);
});

describe('a request full of unknown names', () => {
  const near = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, place) => [`subject${10 + place}`, 1]));
  const suggested = (told: readonly (readonly [string, string | undefined])[]) =>
    told.filter(([, detail]) => detail?.includes('Did you mean')).length;

  test('has the first 20 of them compared with the fields, whether anything was near or not', async () => {
    expect(suggested(await faults({ ...MAIL, ...near(30) }))).toBe(20);
    const far = Object.fromEntries(Array.from({ length: 20 }, (_, place) => [`zzzzzzz${place}`, 1]));
    expect(suggested(await faults({ ...MAIL, ...far, subjct: 1 }))).toBe(0);
    const names = Object.keys(near(30));
    expect(suggested(await formFaults(...names.map((name) => [name, 'x'] as const)))).toBe(20);
  });
  test('is told of the first 1,000 faults, and no others are made', async () => {
    const names = Object.fromEntries(Array.from({ length: 5000 }, (_, place) => [`n${place}`, 1]));
    const answer = await world.post(key, { ...MAIL, ...names });
    expect(answer.json.errors).toHaveLength(1000);
    expect(answer.json['detail']).toMatch(/\(and at least 1000 more; see errors\)$/);
    expect(fieldsFromJson({ ...MAIL, ...names }).faults).toHaveLength(1001);
    expect(fieldsFromJson({ ...MAIL, tags: Array.from({ length: 5000 }, () => 1) }).faults).toHaveLength(
      1001,
    );
  });
});

test('the examples of the documentation are what the API answers', async () => {
  const document = await readFile(new URL('../../../docs/api.md', import.meta.url), 'utf8');
  const section = document.slice(document.indexOf('\n## Errors'), document.indexOf('\n## HTTP manners'));
  const examples = section.split(/\n(?=\*\*)/).slice(1);
  expect(examples).toHaveLength(3);
  for (const example of examples) {
    const [, method = '', path = ''] = /`(GET|POST) (\S+)`/.exec(example) ?? [];
    const blocks = [...example.matchAll(/```json\n(.*?)```/gs)].map(([, text = '']): object =>
      JSON.parse(text),
    );
    const told = blocks.at(-1);
    const [body] = blocks.length === 2 ? blocks : [];
    const answer = await world.ask({ method, path, key, ...(body !== undefined && { body }) });
    expect({ status: answer.status, code: answer.json['code'], errors: answer.json.errors }).toEqual(told);
  }
});
