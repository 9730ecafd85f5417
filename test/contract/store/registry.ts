import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type OpenSubject, type Subject, T0 } from './fixtures.ts';

/** What the registry promises of domains, of holds and of published tables. */
export function registryContract(open: OpenSubject): void {
  describe('registry', () => {
    let subject: Subject;
    beforeEach(async () => {
      subject = await open();
    });
    afterEach(() => subject.close());

    const publish = (definition: string, origin: 'file' | 'stored' = 'stored') =>
      subject.registry.publishRoutes({ publishedAt: T0, origin, definition });

    it('keeps domains until they are removed, across a restart', async () => {
      const { registry } = subject;
      expect(await registry.domains()).toEqual([]);
      const [first, second] = [
        { name: 'b.example', definition: '{"keys":[]}', secrets: '{}' },
        { name: 'a.example', definition: '{"keys":["s1"]}', secrets: '{"s1":"sealed"}' },
      ];
      await registry.putDomain(first);
      await registry.putDomain(second);
      expect(await registry.domains()).toEqual([second, first]);
      const changed = { ...first, definition: '{"keys":["s2"]}', secrets: '{"s2":"sealed"}' };
      await registry.putDomain(changed);
      subject = await subject.reopen();
      expect(await subject.registry.domains()).toEqual([second, changed]);
      expect(await subject.registry.removeDomain('a.example')).toBe(true);
      expect(await subject.registry.removeDomain('a.example')).toBe(false);
      expect(await subject.registry.domains()).toEqual([changed]);
    });

    it('sets several settings together, or removes them', async () => {
      await subject.registry.putSettings(
        new Map([
          ['b.two', '2'],
          ['a.one', '"x"'],
        ]),
      );
      await subject.registry.putSettings(
        new Map([
          ['b.two', null],
          ['c.three', '[3]'],
          ['never', null],
        ]),
      );
      subject = await subject.reopen();
      expect([...(await subject.registry.settings())]).toEqual([
        ['a.one', '"x"'],
        ['c.three', '[3]'],
      ]);
    });

    it('puts and removes a relay together with settings', async () => {
      const relay = { name: 'out', definition: '{}', secret: null, disabled: false };
      await subject.registry.putSetting('kept', '1');
      await subject.registry.putRelay(relay, new Map([['default', '"out"']]));
      subject = await subject.reopen();
      expect(await subject.registry.relays()).toEqual([relay]);
      expect([...(await subject.registry.settings())]).toEqual([
        ['default', '"out"'],
        ['kept', '1'],
      ]);
      expect(await subject.registry.removeRelay('out', new Map([['default', null]]))).toBe(true);
      subject = await subject.reopen();
      expect(await subject.registry.relays()).toEqual([]);
      expect([...(await subject.registry.settings())]).toEqual([['kept', '1']]);
    });

    it('puts neither a relay nor its settings where one of them cannot be put', async () => {
      const relay = { name: 'out', definition: '{}', secret: null, disabled: false };
      // A text that is none: it fails in the database, after the relay was put.
      const broken = new Map([['default', { no: 'text' } as unknown as string]]);
      await expect(subject.registry.putRelay(relay, broken)).rejects.toThrow();
      expect(await subject.registry.relays()).toEqual([]);
      expect((await subject.registry.settings()).size).toBe(0);
    });

    it('keeps holds until they are let go, across a restart', async () => {
      const { registry } = subject;
      expect(await registry.holds()).toEqual([]);
      await registry.putHold('out', { kind: 'pause', since: T0 });
      await registry.putHold('mx/example.net', { kind: 'drain', since: T0 + 1 });
      await registry.putHold('out', { kind: 'drain', since: T0 + 2 });
      await registry.putHold('never', null);
      subject = await subject.reopen();
      expect(await subject.registry.holds()).toEqual([
        { target: 'mx/example.net', kind: 'drain', since: T0 + 1 },
        { target: 'out', kind: 'drain', since: T0 + 2 },
      ]);
      await subject.registry.putHold('out', null);
      expect((await subject.registry.holds()).map(({ target }) => target)).toEqual(['mx/example.net']);
    });

    it('lets go with a relay what held it and its lanes back, and nothing else', async () => {
      const { registry } = subject;
      await registry.putRelay({ name: 'mx', definition: '{}', secret: null, disabled: false });
      const hold = { kind: 'drain', since: T0 } as const;
      for (const target of ['mx', 'mx/example.net', 'mx-2', 'mx2/example.net', 'm'])
        await registry.putHold(target, hold);
      expect(await registry.removeRelay('mx')).toBe(true);
      const targets = (await registry.holds()).map(({ target }) => target);
      expect(targets).toEqual(['m', 'mx-2', 'mx2/example.net']);
      expect(await registry.removeRelay('mx')).toBe(false);
    });

    it('numbers published tables from 2 on, across a restart', async () => {
      expect(await subject.registry.routeTables(9)).toEqual([]);
      expect(await publish('{"rules":[1]}')).toBe(2);
      subject = await subject.reopen();
      expect(await publish('{"rules":[2]}', 'file')).toBe(3);
      expect(await subject.registry.routeTables(9)).toEqual([
        { version: 3, publishedAt: T0, origin: 'file', definition: '{"rules":[2]}' },
        { version: 2, publishedAt: T0, origin: 'stored', definition: '{"rules":[1]}' },
      ]);
      expect(await subject.registry.routeTables(1)).toMatchObject([{ version: 3 }]);
    });

    it('gives no new number to what the newest says already, but to what an older one said', async () => {
      expect(await publish('a')).toBe(2);
      expect(await publish('a')).toBe(2);
      expect(await publish('b')).toBe(3);
      expect(await publish('a')).toBe(4);
      expect(await subject.registry.routeTables(9)).toHaveLength(3);
    });

    it('keeps the hundred newest tables', async () => {
      for (let i = 0; i < 103; i++) await publish(`table ${i}`);
      const tables = await subject.registry.routeTables(1_000);
      expect(tables).toHaveLength(100);
      expect([tables[0]?.version, tables.at(-1)?.version]).toEqual([104, 5]);
      expect(await publish('one more')).toBe(105);
    });
  });
}
