import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import fc from 'fast-check';
import { describe, expect, it, onTestFinished } from 'vitest';
import { at, message, recipient, T0, takeLane } from '../../../test/contract/store/fixtures.ts';
import { openLoggedRig } from '../../../test/support/logged-rig.ts';
import { parseSuppressed, suppressedOf } from '../../domain/suppressed-address.ts';
import type { Suppression } from '../../domain/suppression.ts';
import { FoundEntries } from '../plain/suppressions.ts';
import type { SuppressedAddress } from '../suppressions.ts';
import { SuppressionFilter } from './filter.ts';

/** A loaded filter that these were entered into. Of all, as each would take 16 MiB. */
function filterOf(addresses: readonly string[]): SuppressionFilter {
  const filter = new SuppressionFilter();
  for (const address of addresses) filter.add(address);
  return filter;
}

/** Measures a filter in a process of its own, where nothing else takes memory or gives it back. */
const MEASURE = `
  import { SuppressionFilter } from ${JSON.stringify(new URL('./filter.ts', import.meta.url).href)};
  const filter = new SuppressionFilter();
  const used = () => {
    globalThis.gc();
    const { heapUsed, arrayBuffers } = process.memoryUsage();
    return heapUsed + arrayBuffers;
  };
  const empty = used();
  filter.add('r@example.org');
  const one = used();
  for (let i = 0; i < 300_000; i++) filter.add('r' + i + '@example' + (i % 977) + '.org');
  const many = used();
  process.stdout.write(JSON.stringify({ first: one - empty, others: many - one }));
  // Until here it is in use.
  filter.mayStop('');`;
const ALONE = ['--expose-gc', '--input-type=module', '-e', MEASURE];

// Few letters and labels, so that recipients and entries meet.
const LOCAL = fc.constantFrom('ann', 'ANN', '*', 'e\u0301', '\u00e9');
const LABEL = fc.constantFrom('a', 'xn--p1ai');
const DOMAIN = fc.array(LABEL, { minLength: 1, maxLength: 7 }).map((labels) => labels.join('.'));
const RECIPIENT = fc.tuple(LOCAL, DOMAIN).map(([local, domain]) => `${local}@${domain}`);
const ENTRY = fc.oneof(
  RECIPIENT.map((address) => suppressedOf(address).address),
  DOMAIN.map((domain) => `*@${domain}`),
  fc.array(LABEL, { minLength: 1, maxLength: 4 }).map((labels) => `*@*.${labels.join('.')}`),
);

/** Whether an entry of the list stops a recipient, as the database would decide. */
function isStopped(recipient: string, addresses: readonly string[]): boolean {
  const found = new FoundEntries();
  found.add(
    addresses.map((address): Suppression => {
      const rest = { note: '', evidence: null, createdAt: 0, updatedAt: 0, expiresAt: null };
      return {
        id: 'sup_1',
        address,
        scope: 'global',
        stream: null,
        reason: 'manual',
        source: 'api',
        ...rest,
      };
    }),
  );
  const asking = { fromDomain: null, keyId: null, test: false, stream: null, ignores: false };
  return found.stopping(recipient, asking, 1) !== null;
}

describe('a filter in front of the suppression list', () => {
  it('never clears a recipient that an entry stops, by its address or by a pattern', () => {
    let stopped = 0;
    fc.assert(
      fc.property(
        fc.array(ENTRY, { minLength: 3, maxLength: 9 }),
        fc.array(RECIPIENT, { minLength: 4, maxLength: 12 }),
        (entries, recipients) => {
          const filter = filterOf(entries);
          for (const recipient of recipients) {
            if (!isStopped(recipient, entries)) continue;
            stopped++;
            expect(filter.mayStop(recipient)).toBe(true);
          }
        },
      ),
    );
    expect(stopped, 'the property is about something').toBeGreaterThan(50);
  });

  it('knows every form under which the list has an entry, and nearly no other', () => {
    fc.assert(
      fc.property(fc.array(ENTRY, { maxLength: 9 }), ENTRY, (entries, other) => {
        const filter = filterOf(entries);
        for (const address of entries) expect(filter.mayList(address)).toBe(true);
        expect(filter.mayList(other)).toBe(entries.includes(other));
      }),
    );
  });

  it('knows what people write as an entry, whatever its case', () => {
    const written = ['Ann@Example.ORG', '*@Bücher.example', '*@*.Example.net', '"*"@example.com'];
    const filter = filterOf(
      written.map((text) => {
        const parsed = parseSuppressed(text);
        if (!parsed.ok) throw new Error(text);
        return parsed.value.address;
      }),
    );
    for (const to of ['aNN@example.org', 'x@xn--bcher-kva.example', 'x@a.b.example.net', '*@example.com'])
      expect(filter.mayStop(to)).toBe(true);
  });

  it('clears everybody while the list is empty', () => {
    const filter = new SuppressionFilter();
    expect(filter.mayStop('ann@example.org')).toBe(false);
    expect(filter.changes).toBe(0);
  });

  it('clears nobody until the list is read to its end, nor while it is read anew, nor if it cannot be', async () => {
    const pages = [
      Promise.withResolvers<SuppressedAddress[]>(),
      Promise.withResolvers<SuppressedAddress[]>(),
    ];
    let asked = 0;
    const filter = new SuppressionFilter({
      suppressedAddresses: async () => (await pages[asked++]?.promise) ?? [],
    });
    const states = async () => {
      // What was resolved has been heard by then.
      await new Promise(setImmediate);
      return ['ann@example.org', 'bob@example.org'].map((address) => filter.mayStop(address));
    };
    expect(await states()).toEqual([true, true]);
    pages[0]?.resolve([{ id: 'sup_1', address: 'ann@example.org' }]);
    expect(await states()).toEqual([true, false]);
    const again = filter.load();
    expect(await states()).toEqual([true, true]);
    pages[1]?.reject(new Error('the list cannot be read'));
    await again;
    expect(await states()).toEqual([true, true]);
    // It was asked again for what could not be read.
    expect(await states()).toEqual([true, false]);
    expect(asked).toBe(3);
  });

  it('counts each entry, so that what was clear before is looked at again', () => {
    const filter = filterOf([]);
    filter.add('ann@example.org');
    filter.add('ann@example.org');
    expect(filter.changes).toBe(2);
  });

  it('takes no more memory for many entries than for one', async () => {
    const { stdout } = await promisify(execFile)(process.execPath, ALONE);
    const { first, others } = JSON.parse(stdout);
    expect(first).toBeGreaterThan(2 ** 23);
    expect(others).toBeLessThan(2 ** 20);
  });

  it('clears nearly all others, of a list of many', () => {
    const filter = filterOf([]);
    for (let i = 0; i < 300_000; i++) filter.add(`r${i}@example${i % 977}.org`);
    let wrong = 0;
    for (let i = 0; i < 20_000; i++) if (filter.mayStop(`s${i}@example${i % 977}.org`)) wrong++;
    // 300,000 of 2^27 bits, four each: fewer than one in 10,000,000 if the hashes spread well.
    expect(wrong).toBeLessThan(3);
    // Patterns cost more looks, each with the same chance.
    filter.add('*@nowhere.example');
    for (let i = 0; i < 20_000; i++) if (filter.mayStop(`s${i}@a.example${i % 977}.org`)) wrong++;
    expect(wrong).toBeLessThan(3);
  });
});

it('the list is read for whom it may have, and nothing is written first for anybody else', async () => {
  const rig = await openLoggedRig();
  onTestFinished(() => rig.close());
  const { suppressions } = rig.inner;
  const asked: (readonly string[])[] = [];
  const list = rig.logged.listOver({
    ...suppressions,
    suppressionsUnder: (addresses) => {
      asked.push(addresses);
      return suppressions.suppressionsUnder(addresses);
    },
  });
  const entry: Suppression = {
    id: 'sup_1',
    address: 'ann@example.org',
    scope: 'global',
    stream: null,
    reason: 'manual',
    source: 'api',
    note: '',
    evidence: null,
    createdAt: T0,
    updatedAt: T0,
    expiresAt: null,
  };
  await list.addSuppressions([entry], { max: 10, by: 'hand', now: T0 });
  const { fence } = await takeLane(rig.store);
  const record = message({ deliveries: [recipient({ fence })] });
  await rig.store.accept([record], at());
  expect(await list.suppressionsUnder(['bob@example.org', '*@example.org'])).toEqual([]);
  expect(asked).toEqual([]);
  expect(await rig.inner.views.message(record.id)).toBeNull();
  expect(await list.suppressionsUnder(['bob@example.org', entry.address])).toEqual([entry]);
  expect(asked).toEqual([['bob@example.org', entry.address]]);
});
