import { afterEach, beforeEach, expect, test } from 'vitest';
import { inShape } from '../../test/support/in-shape.ts';
import { ManualClock } from '../../test/support/manual-clock.ts';
import { seededRandom } from '../lib/random.ts';
import { openSqlite, type SqliteStores } from '../store/sqlite/open.ts';
import { ASKING, COMMAND_LINE } from './door.ts';
import { templateOperations } from './templates.ts';

let stores: SqliteStores;
let operations: ReturnType<typeof templateOperations>;

beforeEach(() => {
  stores = openSqlite(':memory:');
  operations = inShape(
    templateOperations({ templates: stores.templates, clock: new ManualClock(), random: seededRandom(1) }),
  );
});
afterEach(() => stores.store.close());

const WELCOME = {
  alias: 'welcome',
  name: 'Welcome',
  subject: 'Hi {{name}}',
  html: '<p>{{name}}</p>',
  text: null,
};

test('a template is saved in versions by whoever asks, and one is published', async () => {
  const ann = { ...COMMAND_LINE, kind: 'user' as const, name: 'ann' };
  const first = await ASKING.run(ann, () =>
    operations.saveTemplate({ ...WELCOME, sample: { name: 'Ann' }, note: 'first', basedOn: null }),
  );
  expect(first).toMatchObject({ ...WELCOME, sample: { name: 'Ann' }, version: 1, publishedVersion: null });
  expect(first.versions).toMatchObject([{ version: 1, by: 'ann', note: 'first' }]);
  const second = await operations.saveTemplate({ ...WELCOME, subject: 'Hello', basedOn: 1 });
  expect(second.versions.map(({ version, by }) => [version, by])).toEqual([
    [2, ''],
    [1, 'ann'],
  ]);
  expect(await operations.publishTemplate({ alias: first.id, version: 1 })).toMatchObject({
    publishedVersion: 1,
  });
  expect(await operations.template({ alias: 'welcome', version: 1 })).toMatchObject({
    subject: 'Hi {{name}}',
  });
  expect(await operations.templates({})).toMatchObject([
    { alias: 'welcome', version: 2, publishedVersion: 1 },
  ]);
  expect(await operations.publishTemplate({ alias: 'welcome', version: null })).toMatchObject({
    publishedVersion: null,
  });
  expect(await operations.deleteTemplate({ alias: 'welcome' })).toEqual({ deleted: 'welcome' });
});

test('a version is saved only over the newest one', async () => {
  const refused = { code: 'refused' };
  await expect(operations.saveTemplate({ ...WELCOME, basedOn: 3 })).rejects.toMatchObject({
    ...refused,
    message: 'There is no template welcome any more; save it as new.',
  });
  await operations.saveTemplate({ ...WELCOME, basedOn: null });
  expect(await operations.saveTemplate({ ...WELCOME, basedOn: null })).toMatchObject({ version: 1 });
  await expect(operations.saveTemplate({ ...WELCOME, name: 'x', basedOn: null })).rejects.toMatchObject({
    ...refused,
    message: 'There is a template welcome already, in version 1.',
  });
  await operations.saveTemplate({ ...WELCOME, subject: 'a', basedOn: 1 });
  await expect(operations.saveTemplate({ ...WELCOME, basedOn: 1 })).rejects.toMatchObject({
    ...refused,
    message: 'This was based on version 1 of welcome, but version 2 is the newest.',
  });
});

test.each([
  ['a tag without an end', { html: 'a\n{{name' }, 'html: Line 2: The tag has no end'],
  ['neither HTML nor text', { html: null }, 'text: A template needs HTML or text, or both.'],
  ['a subject of two lines', { subject: 'a\nb' }, 'subject: Must be one line.'],
  ['a NUL', { html: 'a\0' }, 'html: Must be text, without NUL.'],
  ['half a character', { subject: '\ud83d' }, 'subject: Must be text'],
  ['a large sample', { sample: { a: 'b'.repeat(65_536) } }, 'sample: Must have at most 65536 characters'],
  ['a text without anything', { text: '' }, 'text: It is empty; leave it out (null)'],
  ['the form of an id', { alias: 'tpl_01kaj3v7q80000000000000kqr' }, 'alias: Must not look like an id.'],
])('%s is refused', async (_, change, message) => {
  await expect(operations.saveTemplate({ ...WELCOME, ...change, basedOn: null })).rejects.toMatchObject({
    code: 'invalid',
    message: expect.stringContaining(message),
  });
});

test('what is not there is told', async () => {
  await operations.saveTemplate({ ...WELCOME, basedOn: null });
  const notFound = (message: string) => ({ code: 'not_found', message: expect.stringContaining(message) });
  for (const call of [
    operations.template({ alias: 'other' }),
    operations.publishTemplate({ alias: 'other', version: null }),
    operations.deleteTemplate({ alias: 'other' }),
  ])
    await expect(call).rejects.toMatchObject(notFound('There is no template other.'));
  for (const call of [
    operations.template({ alias: 'welcome', version: 2 }),
    operations.publishTemplate({ alias: 'welcome', version: 2 }),
  ])
    await expect(call).rejects.toMatchObject(notFound('The template welcome has no version 2'));
});

test('a preview has what can be made, and all that is wrong', async () => {
  const preview = await operations.previewTemplate({
    subject: 'Hi {{name}}',
    html: '<p>{{name}} {{order.id}} {{order.id}}</p>',
    text: '{{#a}}',
    variables: { name: 'Ann\n' },
  });
  expect(preview).toEqual({
    subject: null,
    html: '<p>Ann\n {{order.id}} {{order.id}}</p>',
    text: null,
    faults: [
      { field: 'text', line: 1, code: 'template_place', detail: 'The section has no end: {{/a}}.' },
      {
        field: 'subject',
        line: 1,
        code: 'template_value',
        detail: '"name": A value in the subject must not have line breaks.',
      },
    ],
    missing: ['order.id'],
  });
});
