import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { storeTemplate } from '../../support/stored-template.ts';
import { BatchClient, itemsOf } from './batch-client.ts';
import { formOf, MAIL, World } from './world.ts';

/** Messages of stored templates, and `/api/v1/templates` (docs/templates.md). */

let world: World;
let key: string;
let editor: string;
let id: string;

beforeAll(async () => {
  world = await World.start();
  key = await world.key({ id: 'sender' });
  editor = await world.key({ id: 'editor', scopes: ['templates:read', 'templates:write'] });
  id = await storeTemplate(world, 'welcome', {
    subject: 'Welcome, {{name}}',
    html: '<p>Hello {{name}},</p>{{#items}}<p>{{title}}</p>{{/items}}<a href="{{url}}">Go</a>',
  });
});
afterAll(() => world.close());

const VARIABLES = { name: 'Ann & <Bob>', items: [{ title: 'Shirt' }], url: 'https://shop.example/?a=1&b=2' };
const { subject: _, text: __, ...LETTER } = MAIL;
const OF_TEMPLATE = { ...LETTER, template: 'welcome', variables: VARIABLES };
const post = (fields: object, headers = {}) => world.post(key, { ...OF_TEMPLATE, ...fields }, headers);
const faultsOf = async (fields: object) => {
  const { status, json } = await post(fields);
  expect(status).toBe(400);
  const errors = json['errors'] as { pointer: string; code: string; detail: string }[];
  return errors.map(({ pointer, code, detail }) => `${pointer} ${code}: ${detail}`);
};

test('a test key sees and renders what live mail says, and changes none of it', async () => {
  const test = await world.key({ id: 'tester', mode: 'test', scopes: ['templates:read', 'templates:write'] });
  const path = '/api/v1/templates/welcome';
  const asks = [
    { method: 'GET', path },
    { method: 'POST', path: `${path}/render`, body: {} },
    { method: 'PUT', path, body: { name: 'x', subject: 'x', text: 'x', basedOn: 1 } },
    { method: 'POST', path: `${path}/publish`, body: { version: null } },
    { method: 'DELETE', path },
  ];
  const told: unknown[] = [];
  for (const ask of asks) {
    const { status, json } = await world.ask({ ...ask, key: test });
    told.push(json['code'] ?? status);
  }
  expect(told).toEqual([200, 200, 'test_key', 'test_key', 'test_key']);
});

describe('a message of a template', () => {
  test('is stored as it is rendered: subject, HTML, and text made of that', async () => {
    expect((await post({})).status).toBe(202);
    expect(world.last.header.subject).toBe('Welcome, Ann & <Bob>');
    expect(world.lastText).toContain('<p>Hello Ann &amp; &lt;Bob&gt;,</p><p>Shirt</p>');
    expect(world.lastText).toContain(
      'Hello Ann & <Bob>,\r\n\r\nShirt\r\n\r\nGo <https://shop.example/?a=1&b=2>',
    );
  });

  test('may come as a form, and in a batch', async () => {
    const form = formOf([
      ['from', MAIL.from],
      ['to', 'bob@example.org'],
      ['template', 'welcome'],
      ['t:variables', JSON.stringify(VARIABLES)],
      ['t:text', 'yes'],
    ]);
    expect((await world.postForm(key, form)).status).toBe(202);
    expect(world.last.header.subject).toBe('Welcome, Ann & <Bob>');
    const body = { messages: [OF_TEMPLATE, { ...OF_TEMPLATE, template: 'none' }, MAIL] };
    const { json } = await world.ask({ method: 'POST', path: '/api/v1/messages/batch', key, body });
    expect(json).toMatchObject({
      results: [
        { index: 0, id: expect.any(String) },
        { index: 1, error: { errors: [{ pointer: '/template', code: 'template_not_found' }] } },
        { index: 2, id: expect.any(String) },
      ],
    });
  });

  test('is named by its id, and in any case', async () => {
    for (const template of [id, 'Welcome']) expect((await post({ template })).status).toBe(202);
  });

  test('is refused for what its values lack, by their places', async () => {
    expect(
      await faultsOf({ variables: { items: [{ title: 'a' }, {}], url: 'javascript:alert(1)' } }),
    ).toEqual([
      '/variables/name required: The template needs a value for "name" (subject, line 1).',
      '/variables/items/1/title required: The template needs a value for "title" (html, line 1).',
      '/variables/url template_value: A link must not begin with javascript:, vbscript: or data:. (html, line 1)',
    ]);
    expect(await faultsOf({ variables: { ...VARIABLES, name: 'a\nBcc: eve@example.org' } })).toEqual([
      expect.stringMatching(/^\/variables\/name template_value: .*line breaks/),
    ]);
  });

  test('is refused beside texts, without a template, and with other faults at once', async () => {
    expect(await faultsOf({ subject: 'x', text: 'x', html: 'x', to: ['nobody'] })).toEqual([
      '/subject not_supported: Comes from the template; leave it out.',
      '/text not_supported: Comes from the template; leave it out.',
      '/html not_supported: Comes from the template; leave it out.',
      expect.stringMatching(/^\/to\/0 /),
    ]);
    expect(await faultsOf({ template: null })).toEqual([
      '/variables required: Is for a template; name one in template.',
    ]);
    expect(await faultsOf({ template: 7, variables: [1] })).toEqual([
      expect.stringMatching(/^\/template type: /),
      expect.stringMatching(/^\/variables type: /),
    ]);
    expect(await faultsOf({ template: 'x'.repeat(5000) })).toEqual([
      expect.stringMatching(/^\/template template_not_found: /),
    ]);
  });

  test('may not outgrow the bounds of the language', async () => {
    await storeTemplate(world, 'grows', { text: 'a\n{{#l}}{{#l}}{{x}}{{/l}}{{/l}}' });
    const variables = { l: Array.from({ length: 100 }, () => 1), x: 'y'.repeat(1000) };
    expect(await faultsOf({ template: 'grows', variables })).toEqual([
      '/template template_limit: All texts together may become 2097152 characters long. (text, line 2)',
    ]);
  });

  test('is the same message again under an Idempotency-Key, whatever is published since', async () => {
    await storeTemplate(world, 'anew', { subject: 'One {{a}}', text: 'x' });
    const again = (variables: object) =>
      post({ template: 'anew', variables }, { 'Idempotency-Key': 'template-1' });
    const first = await again({ a: 1, b: { c: 1, d: 2 } });
    await storeTemplate(world, 'anew', { subject: 'Two {{a}}', text: 'x' });
    const second = await again({ b: { d: 2, c: 1 }, a: 1 });
    expect([second.status, second.json['id']]).toEqual([202, first.json['id']]);
    expect((await again({ a: 2, b: { c: 1, d: 2 } })).status).toBe(409);
    const inCapitals = { template: 'ANEW', variables: { a: 1, b: { c: 1, d: 2 } } };
    expect((await post(inCapitals, { 'Idempotency-Key': 'template-1' })).json['id']).toBe(first.json['id']);
    await post({ template: 'anew', variables: { a: 1 } });
    expect(world.last.header.subject).toBe('Two 1');
  });

  test('is the same message again when its template is gone, or asks for other values', async () => {
    const headers = { 'Idempotency-Key': 'template-2' };
    const again = (fields: object = {}) =>
      post({ template: 'gone', variables: { a: 1 }, ...fields }, headers);
    const alone = () => post({ template: 'gone', variables: { a: 1 } });
    await storeTemplate(world, 'gone', { subject: 'One {{a}}', text: 'x' });
    const first = await again();
    const before = world.intake.submissions.length;
    const expectRepeat = async () => {
      const { status, json, headers: told } = await again();
      expect([status, json['id'], told['idempotency-replayed']]).toEqual([202, first.json['id'], 'true']);
    };
    await storeTemplate(world, 'gone', { subject: 'Two {{b}}', text: 'x' });
    await expectRepeat();
    await world.stores.templates.publishTemplate('gone', null, 0);
    await expectRepeat();
    await world.stores.templates.removeTemplate('gone');
    await expectRepeat();
    // What is no repeat is refused as ever, and so is a dry run.
    const others = [{ variables: { a: 2 } }, { subject: 'x' }, { to: 'eve@example.org' }, { dryRun: true }];
    for (const other of others) expect((await again(other)).json['code']).toBe('invalid_submission');
    expect((await alone()).json['errors']).toMatchObject([{ code: 'template_not_found' }]);
    expect(world.intake.submissions.length).toBe(before);
  });

  test('is the same message again in a batch, beside others', async () => {
    await storeTemplate(world, 'lost', { subject: 'One', text: 'x' });
    const batch = new BatchClient(world, key);
    const send = async () => {
      const messages = [{ ...OF_TEMPLATE, template: 'lost' }, MAIL];
      return itemsOf(await batch.send(messages, { 'Idempotency-Key': 'template-3' })).map(({ id }) => id);
    };
    const first = await send();
    await world.stores.templates.removeTemplate('lost');
    expect(await send()).toEqual(first);
  });

  test('in a dry run is checked, and not stored', async () => {
    const before = world.intake.submissions.length;
    expect((await post({ dryRun: true })).status).toBe(200);
    const { json } = await post({ dryRun: true, variables: { ...VARIABLES, name: 'undefined' } });
    expect(json['findings']).toContainEqual(
      expect.objectContaining({
        code: 'placeholder',
        where: '/template',
        detail: expect.stringContaining('html, line 1 as rendered'),
      }),
    );
    expect(world.intake.submissions.length).toBe(before);
  });
});

describe('/api/v1/templates', () => {
  const ask = (method: 'GET' | 'PUT' | 'POST' | 'DELETE', path: string, body?: object, asking = editor) =>
    world.ask({ method, path: `/api/v1/templates${path}`, key: asking, ...(body && { body }) });
  const ORDER = { name: 'Order', subject: 'Order {{id}}', html: null, text: 'Thanks, {{name}}.' };

  test('keeps versions, publishes one, renders, deletes', async () => {
    const first = await ask('PUT', '/order', { ...ORDER, note: 'First.', basedOn: null });
    expect([first.status, first.json['version'], first.json['publishedVersion']]).toEqual([201, 1, null]);
    const refused = await post({ template: 'order', variables: {} });
    expect(refused.json['errors']).toMatchObject([{ pointer: '/template', code: 'template_not_published' }]);
    expect((await ask('PUT', '/order', { ...ORDER, subject: 'x', basedOn: 1 })).json['version']).toBe(2);
    expect((await ask('PUT', '/order', { ...ORDER, basedOn: 1 })).json['code']).toBe('template_changed');
    expect((await ask('POST', '/order/publish', { version: 1 })).json['publishedVersion']).toBe(1);
    expect((await ask('GET', '/order?version=1')).json['subject']).toBe('Order {{id}}');
    const { json } = await ask('POST', '/order/render', { variables: { name: 'Ann' }, version: 1 });
    expect(json).toMatchObject({ subject: 'Order {{id}}', text: 'Thanks, Ann.', missing: ['id'] });
    const { json: all } = await ask('GET', '');
    expect(all['templates']).toMatchObject([
      { alias: 'anew' },
      { alias: 'grows' },
      { alias: 'order' },
      { alias: 'welcome' },
    ]);
    expect((await ask('DELETE', '/order')).status).toBe(204);
    for (const path of ['/order', '/order?version=2', '/welcome?version=9'])
      expect((await ask('GET', path)).json['code'], path).toBe('template_not_found');
  });

  test('names the field and the line of what is wrong', async () => {
    const { status, json } = await ask('PUT', '/bad', { ...ORDER, text: 'a\n{{#if x}}', basedOn: null });
    expect([status, json['code']]).toEqual([400, 'invalid_request']);
    expect(json['errors']).toMatchObject([{ pointer: '/text', code: 'template_syntax' }]);
    expect(json['detail']).toMatch(/^text: Line 2: There are no helpers such as "if"/);
    const { json: alias } = await ask('PUT', '/Bad', { ...ORDER, basedOn: null });
    expect(alias['detail']).toMatch(/alias: Must be 1 to 64 of a-z 0-9/);
    expect((await ask('PUT', '/bad', { ...ORDER, text: 'x'.repeat(600_000), basedOn: null })).status).toBe(
      400,
    );
  });

  test('asks for its scopes', async () => {
    const reader = await world.key({ id: 'reader', scopes: ['templates:read'] });
    expect((await ask('GET', '/welcome', undefined, reader)).status).toBe(200);
    for (const [method, path, body] of [
      ['PUT', '/x', { ...ORDER, basedOn: null }],
      ['POST', '/welcome/publish', { version: null }],
      ['DELETE', '/welcome', undefined],
    ] as const)
      expect((await ask(method, path, body, reader)).json['code']).toBe('scope_missing');
    expect((await ask('GET', '', undefined, key)).json['code']).toBe('scope_missing');
  });
});
