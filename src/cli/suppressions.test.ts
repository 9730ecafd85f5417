import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { Installation } from '../../test/support/installation.ts';
import { withAndWithoutServer } from '../../test/support/with-server.ts';
import type { Door } from '../control/door.ts';
import { OperationError } from '../operations/call.ts';

let here: Installation;
beforeEach(() => {
  here = new Installation();
});
afterEach(() => here.remove());

const suppressions = (...args: string[]) => here.waybill(['suppressions', ...args]);
const asJson = (...args: string[]) => here.json(['suppressions', ...args]);
const addresses = async () =>
  (await asJson('list')).suppressions.map(({ address }: { readonly address: string }) => address);

withAndWithoutServer(
  () => here,
  () => {
    test('addresses are added, listed, checked and removed', async () => {
      const added = await suppressions('add', 'Ann@example.org', '--note', 'by phone', '--expires', '90d');
      expect([added.status, added.err]).toEqual([0, '']);
      expect(added.out).toMatch(/^Suppressed: ann@example\.org \(global, sup_\w{26}\)\.\n$/);
      expect((await suppressions('add', 'ann@example.org')).out).toMatch(
        /^Was suppressed already; renewed: /,
      );
      expect(
        await asJson('add', '*@*.example.net', '--scope', 'domain:shop.example', '--stream', 'News'),
      ).toMatchObject({
        added: true,
        suppression: { scope: 'domain:shop.example', stream: 'news', source: 'cli', reason: 'manual' },
      });
      expect(await addresses()).toEqual(['*@*.example.net', 'ann@example.org']);
      const { out } = await suppressions('list', '--domain', 'example.org');
      expect(out).toMatch(/^ADDRESS +SCOPE +STREAM +REASON +SOURCE +SINCE +ENDS +ID\n/);
      expect(out).toMatch(/ann@example\.org +global +all +manual +cli +\S+ +\S+ +sup_/);
      const check = ['check', 'bob@a.example.net', 'ann@example.org'];
      expect((await suppressions(...check)).out).toMatch(
        /bob@a\.example\.net +is sent\nann@example\.org +is not sent +manual +ann@example\.org +global/,
      );
      const { results } = await asJson(...check, '--from', 'a@shop.example', '--stream', 'NEWS');
      expect(results.map(({ suppressed }: { readonly suppressed: boolean }) => suppressed)).toEqual([
        true,
        true,
      ]);
      expect((await suppressions('remove', 'ann@example.org')).out).toBe('Entries removed: 1.\n');
      expect((await suppressions('remove', 'ann@example.org')).status).toBe(1);
      expect(await addresses()).toEqual(['*@*.example.net']);
    });

    test('a table is imported and exported, and only complaints are hard to remove', async () => {
      const file = join(here.folder, 'in.csv');
      writeFileSync(
        file,
        'email,bounce_type\nann@example.org,complaint\nbob(at)example.org,\neve@example.org,hard\n',
      );
      const { status, out } = await suppressions('import', file);
      expect(status).toBe(1);
      expect(out).toMatch(/^Added: 2\. Renewed: 0\. Not imported: 1\.\nline 3: bob\(at\)example\.org /);
      const copy = join(here.folder, 'out.csv');
      expect((await suppressions('export', copy)).out).toBe(`Entries in ${copy}: 2.\n`);
      expect(statSync(copy).mode & 0o777).toBe(0o600);
      const text = readFileSync(copy, 'utf8');
      expect(text).toMatch(/^id,address,scope,.*\r\n.*eve@example\.org,global,.*hard_bounce.*\r\n.*ann@/);
      expect((await suppressions('export', '-')).out).toBe(text);
      expect((await suppressions('export', copy)).err).toContain('cannot be written');
      const refused = await suppressions('remove', 'ann@example.org');
      expect([refused.status, refused.err]).toEqual([1, expect.stringContaining('--complaints')]);
      expect(await asJson('remove', 'ann@example.org', '--complaints')).toEqual({ removed: 1 });
      const input = JSON.stringify([{ EmailAddress: 'sue@example.org', Reason: 'BOUNCE' }]);
      const piped = ['suppressions', 'import', '--format', 'json', '--scope', 'domain:shop.example', '-'];
      expect((await here.waybill(piped, { input })).out).toBe('Added: 1. Renewed: 0. Not imported: 0.\n');
      const lines = join(here.folder, 'in.jsonl');
      writeFileSync(
        lines,
        '{"emailAddress": "kit@example.org", "reason": "BOUNCE"}\n[{"email": "sue@example.com"}]\n',
      );
      expect((await suppressions('import', lines)).out).toBe('Added: 2. Renewed: 0. Not imported: 0.\n');
      for (const address of ['kit@example.org', 'sue@example.com']) await suppressions('remove', address);
      const plain = ['suppressions', 'import', '--reason', 'unsubscribe', '-'];
      const grid = 'email,reason\nlea@example.org,by a link\nsue@example.net,hard\n';
      expect((await here.waybill(plain, { input: grid })).status).toBe(0);
      // By its columns it is Mailgun's list of complaints; what is said counts before that.
      const list = 'address,created_at\nkim@example.org,"Tue, 14 Nov 2023 22:13:20 UTC"\n';
      expect((await here.waybill(plain, { input: list })).status).toBe(0);
      for (const [address, known] of [
        ['lea@example.org', { reason: 'unsubscribe', note: 'by a link' }],
        ['sue@example.net', { reason: 'hard_bounce', note: '' }],
        ['kim@example.org', { reason: 'unsubscribe', evidence: { at: '2023-11-14T22:13:20.000Z' } }],
      ] as const) {
        expect((await asJson('list', '--address', address)).suppressions).toMatchObject([known]);
        await suppressions('remove', address);
      }
      expect(await addresses()).toEqual(['sue@example.org', 'eve@example.org']);
    });

    test('few among many are found, however many entries lie between', async () => {
      const others = Array.from({ length: 2500 }, (_, n) => `r${n}@example.org`).join('\n');
      const input = `email,reason\nann@example.org,complaint\n${others}\n`;
      expect((await here.waybill(['suppressions', 'import', '-'], { input })).status).toBe(0);
      const found = await asJson('list', '--reason', 'complaint');
      expect(found).toMatchObject({ suppressions: [{ address: 'ann@example.org' }], hasMore: false });
      expect((await suppressions('list', '--limit', '2')).out).toMatch(
        /\n\nThere are, or may be, more: --cursor sup_/,
      );
      expect((await suppressions('list', '--reason', 'manual')).out).toBe('There are no such entries.\n');
    });

    test('what cannot be done is told, with its status', async () => {
      for (const [args, status, said] of [
        [['add', 'ann(at)example.org'], 2, 'ann(at)example.org'],
        [['add', 'ann@example.org', '--scope', 'key:nobody'], 2, 'There is no key nobody'],
        [['import', join(here.folder, 'none.csv')], 1, 'cannot be read'],
        [['import', '-'], 2, 'first line'],
        [['list', '--reason', 'spam'], 2, '--reason'],
      ] as const) {
        const done = await suppressions(...args);
        expect([done.status, done.err]).toEqual([status, expect.stringContaining(said)]);
      }
    });
  },
);

test('a list that is too large to read is refused before it is sent', async () => {
  const file = join(here.folder, 'large.csv');
  writeFileSync(file, `email\n${'x'.repeat(10 * 1024 * 1024)}`);
  const { status, err } = await suppressions('import', file);
  expect([status, err]).toEqual([2, expect.stringContaining('divide it')]);
});

test('an export that fails leaves no file behind, so that it can be made again', async () => {
  const opened = await here.open();
  const rows = Array.from({ length: 1001 }, (_, n) => `r${n}@example.org`);
  await opened.operations.importSuppressions({ format: 'csv', text: `email\n${rows.join('\n')}\n` });
  const pages: unknown[] = [];
  const door: Door = {
    call: (actor, name, request, progress) => {
      if (name === 'exportSuppressions' && pages.push(request) === 2)
        throw new OperationError('unavailable', 'The store went away.');
      return opened.door.call(actor, name, request, progress);
    },
  };
  const control = await here.listen({ ...opened, door });
  const file = join(here.folder, 'out.csv');
  const failed = await suppressions('export', file);
  expect([failed.status, failed.err]).toEqual([1, expect.stringContaining('The store went away.')]);
  expect(existsSync(file)).toBe(false);
  expect((await suppressions('export', file)).out).toBe(`Entries in ${file}: 1001.\n`);
  await control.close();
  await opened.close();
});
