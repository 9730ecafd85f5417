import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { Installation } from '../../test/support/installation.ts';
import { withAndWithoutServer } from '../../test/support/with-server.ts';

let here: Installation;
let dir: string;
beforeEach(() => {
  here = new Installation();
  dir = join(here.folder, 'templates');
});
afterEach(() => here.remove());

const templates = (...args: string[]) => here.waybill(['templates', ...args]);
const file = (alias: string, name: string) => join(dir, alias, name);
const read = (alias: string, name: string) => readFileSync(file(alias, name), 'utf8');

function write(alias: string, files: Readonly<Record<string, string>>): void {
  mkdirSync(join(dir, alias), { recursive: true });
  for (const [name, text] of Object.entries(files)) writeFileSync(file(alias, name), text);
}

const WELCOME = {
  'template.json': '{"name": "Welcome", "sample": {"name": "Ann"}}',
  'subject.txt': 'Welcome, {{name}}\n',
  'body.html': '<p>Hello {{name}}</p>\n',
};

withAndWithoutServer(
  () => here,
  () => {
    test('a folder is pushed, published, rendered, pulled, and pushed again', async () => {
      write('welcome', WELCOME);
      expect(await templates('push', dir, '--dry-run')).toMatchObject({
        status: 0,
        out: 'welcome: would be saved as version 1, new\n',
      });
      expect((await templates('list')).out).toMatch(/^There is no template/);
      expect(await templates('push', dir, '--note', 'First.')).toMatchObject({
        status: 0,
        out: 'welcome: saved as version 1, new\n',
      });
      expect(JSON.parse(read('welcome', 'template.json'))).toEqual({
        name: 'Welcome',
        version: 1,
        sample: { name: 'Ann' },
      });
      expect((await templates('push', dir)).out).toBe('welcome: unchanged\n');
      expect((await templates('publish', 'welcome')).out).toBe('welcome is sent in version 1.\n');
      expect((await templates('list')).out).toMatch(
        /ALIAS +NAME +VERSION +PUBLISHED +CHANGED\nwelcome +Welcome +1 +1 /,
      );
      expect((await templates('render', 'welcome')).out).toBe(
        'Subject: Welcome, Ann\n\n<p>Hello Ann</p>\n\nHello Ann\n',
      );
      write('welcome', { 'body.txt': 'Hello {{name}}.\n' });
      expect((await templates('push', dir, '--publish')).out).toBe('welcome: saved as version 2\n');
      rmSync(dir, { recursive: true });
      expect((await templates('pull', dir)).out).toBe('welcome: version 2\n');
      expect([
        read('welcome', 'subject.txt'),
        read('welcome', 'body.html'),
        read('welcome', 'body.txt'),
      ]).toEqual(['Welcome, {{name}}\n', '<p>Hello {{name}}</p>\n', 'Hello {{name}}.\n']);
      const shown = await here.json(['templates', 'show', 'welcome', '--version', '1']);
      expect(shown).toMatchObject({
        text: null,
        publishedVersion: 2,
        versions: [{ version: 2 }, { note: 'First.' }],
      });
      expect((await templates('publish', 'welcome', '--none')).out).toBe('welcome is not sent.\n');
      expect((await templates('delete', 'welcome')).out).toBe('Deleted: welcome.\n');
    });

    test('one template is saved of files, and what is not given stays', async () => {
      write('new', { 'a.html': '<p>{{name}}</p>', 'sample.json': '{"name": "Ann"}' });
      const given = ['--subject', 'Hi {{name}}', '--html', file('new', 'a.html')];
      const sample = ['--sample', file('new', 'sample.json')];
      expect((await templates('save', 'hello', ...given, ...sample)).out).toBe(
        'hello: saved as version 1, new\n',
      );
      expect((await templates('save', 'hello', '--name', 'Hello')).out).toBe('hello: saved as version 2\n');
      expect((await templates('save', 'hello', '--name', 'Hello')).out).toBe('hello: unchanged\n');
      expect(await here.json(['templates', 'show', 'hello'])).toMatchObject({
        name: 'Hello',
        subject: 'Hi {{name}}',
        html: '<p>{{name}}</p>',
        text: null,
        sample: { name: 'Ann' },
      });
      expect((await templates('save', 'other', '--subject', 'x')).err).toContain('needs HTML or text');
      expect((await templates('save', 'other', '--html', file('new', 'none'))).status).toBe(1);
    });

    test('nothing is pushed over what is newer on the server, unless it is forced', async () => {
      write('a', { 'subject.txt': 'A', 'body.txt': 'a' });
      write('b', { 'subject.txt': 'B', 'body.txt': 'b' });
      await templates('push', dir);
      // Somebody else saves another version.
      write('a', { 'body.txt': 'theirs' });
      await templates('push', dir);
      write('a', { 'body.txt': 'ours', 'template.json': '{"name": "a", "version": 1}' });
      write('b', { 'body.txt': 'anew' });
      const refused = await templates('push', dir);
      expect([refused.status, refused.out]).toEqual([1, '']);
      expect(refused.err).toBe(
        'a: based on version 1, but the server has version 2.\nNothing was saved: pull first, or save over them with --force.\n',
      );
      expect((await here.json(['templates', 'show', 'b'])).version).toBe(1);
      expect((await templates('push', dir, '--force')).out).toBe(
        'a: saved as version 3\nb: saved as version 2\n',
      );
    });

    test('what is wrong is told by field and line, and nothing of it is saved', async () => {
      write('bad', { ...WELCOME, 'body.html': 'a\n{{#if x}}' });
      const pushed = await templates('push', dir);
      expect(pushed.status).toBe(2);
      expect(pushed.err).toContain('html: Line 2: There are no helpers such as "if"');
      expect((await templates('list')).out).toMatch(/^There is no template/);
    });
  },
);

test('a server that names a template as a folder elsewhere gets nothing written there', async () => {
  const texts = { version: 1, publishedVersion: null, subject: 's', html: 'h', text: null, sample: {} };
  const facts = {
    id: 'tpl_1',
    name: 'n',
    createdAt: '2026-01-01T00:00:00Z',
    updatedAt: '2026-01-01T00:00:00Z',
  };
  let alias = '';
  const server = createServer((request, response) => {
    const template = { ...facts, ...texts, alias, versions: [] };
    const isList = request.url === '/api/v1/templates';
    response
      .setHeader('content-type', 'application/json')
      .end(JSON.stringify(isList ? { templates: [template] } : template));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  try {
    const address = server.address();
    const port = typeof address === 'object' ? address?.port : 0;
    const key = join(here.folder, 'key');
    writeFileSync(key, 'wb_key');
    const pull = () => templates('pull', dir, '--url', `http://127.0.0.1:${port}`, '--key-file', key);
    alias = 'good';
    expect(await pull()).toMatchObject({ status: 0, err: '' });
    for (alias of ['../escaped', '..', '.', '.hidden', 'a/b', '/tmp/x']) {
      const { status, err } = await pull();
      expect([status, err]).toEqual([
        1,
        `${JSON.stringify(alias)} is not an alias; nothing more is written.\n`,
      ]);
    }
    expect(readdirSync(here.folder)).not.toContain('escaped');
    expect(readdirSync(dir)).toEqual(['good']);
  } finally {
    server.close();
  }
});

test('a folder is rendered without a server, and what it lacks is a failure', async () => {
  write('welcome', WELCOME);
  expect(await templates('render', 'welcome', '--dir', dir)).toMatchObject({ status: 0, err: '' });
  const values = join(here.folder, 'values.json');
  writeFileSync(values, '{}');
  const { status, err } = await templates('render', 'welcome', '--dir', dir, '--variables', values);
  expect([status, err]).toEqual([
    1,
    'subject, line 1: "name" has no value.\nhtml, line 1: "name" has no value.\n',
  ]);
  writeFileSync(values, '[]');
  for (const args of [
    ['render', 'none', '--dir', dir],
    ['render', 'welcome', '--dir', join(here.folder, 'nothing')],
    ['render', 'welcome', '--dir', dir, '--variables', values],
  ])
    expect((await templates(...args)).status, args.join(' ')).toBe(1);
  expect(existsSync(join(here.folder, 'nothing'))).toBe(false);
});
