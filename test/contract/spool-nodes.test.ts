import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import type { ContentRef } from '../../src/domain/message.ts';
import { Collection, Compaction, UpkeepRecord } from '../../src/engine/compaction.ts';
import { SEGMENT_MS } from '../../src/spool/postgres/active-segment.ts';
import { EMPTIED_AT_ONCE, LINGER_MS } from '../../src/spool/postgres/all-segments.ts';
import { openPostgresSpool } from '../../src/spool/postgres/postgres-spool.ts';
import type { Spool } from '../../src/spool/spool.ts';
import { FORGOTTEN_MS } from '../../src/store/cluster.ts';
import { openPostgres, type PostgresStores } from '../../src/store/postgres/open.ts';
import { describeWith } from '../peers/need.ts';
import { POSTGRES_PROGRAMS, Postgres } from '../peers/postgres.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { entryOf, readAll } from '../support/spool-entry.ts';
import { at, attempt, CAPTURED, message, recipient, refTo, takeLane } from './store/fixtures.ts';

const NOTHING_KEPT = { contentAgeMs: 0, contentMaxBytes: 0, capturedAgeMs: 0, capturedMaxBytes: 0 };
/** After so long a node that never beat is taken for dead. */
const GONE_MS = FORGOTTEN_MS + SEGMENT_MS + 1;

/** Who writes contents, who removes them, and who only thinks that it may. */
describeWith(POSTGRES_PROGRAMS, 'contents of several nodes in one PostgreSQL', () => {
  let server: Postgres;
  let url: string;
  let clock: ManualClock;
  let stores: PostgresStores;
  /** `a` is the one that dies or is stopped; the others look after what it leaves. */
  let a: Spool;
  let b: Spool;
  let c: Spool;
  beforeAll(async () => {
    server = await Postgres.start();
  });
  afterAll(() => server.stop());
  beforeEach(async () => {
    url = await server.schema();
    clock = new ManualClock();
    stores = await openPostgres({ url, connections: 4 });
    [a, b, c] = [await open('a'), await open('b'), await open('c')];
    return async () => {
      for (const spool of [a, b, c]) await spool.close();
      await stores.store.close();
    };
  });

  const open = (node: string, segmentBytes?: number) =>
    openPostgresSpool({ database: stores.database, node, clock, ...(segmentBytes && { segmentBytes }) });

  /** Appends one content; its reference. */
  async function put(spool: Spool, text = 'x'.repeat(1000)): Promise<ContentRef> {
    const [ref] = await spool.append([entryOf(text)]);
    if (ref === undefined) throw new Error('no reference');
    return ref;
  }

  const accept = (content: ContentRef) => stores.store.accept([message({ content })], at());
  const beat = (id: string) => {
    const about = {
      name: id,
      roles: [],
      version: '1',
      startedAt: 0,
      sharesWith: null,
      lanes: 0,
      report: '{}',
    };
    return stores.cluster.beat({ id, ...about }, clock.wall());
  };
  const rows = async () => Number((await server.run('SELECT count(*) FROM contents', url))[0]?.['count']);

  /** What the sweep does (`engine/sweep.ts`); the segments it unlinked. */
  async function collect(spool: Spool): Promise<number[]> {
    const idle = await spool.idle();
    const live = await stores.store.liveSegments(idle);
    const dead = idle.filter((segment) => live.get(segment) === 0);
    await spool.unlink(dead);
    await stores.store.forgetSegments(dead);
    return dead;
  }

  it('another node takes over what a dead one left, once the dead one is forgotten', async () => {
    const [orphan, kept] = [await put(a), await put(a, 'kept')];
    await accept(kept);
    await clock.advance(GONE_MS);
    await beat('a');
    await clock.advance(FORGOTTEN_MS);
    expect(await b.idle(), 'it was heard of').toEqual([]);
    await clock.advance(1);
    expect(await b.idle()).toEqual([kept.segment]);
    expect(await b.sizes([kept.segment])).toEqual(new Map([[kept.segment, 1000 + 4 + 2 * 36]]));
    const found = [];
    for await (const { content } of b.records(kept.segment)) found.push(content);
    expect(found).toEqual([orphan, kept]);
    expect(await collect(b), 'something refers to it').toEqual([]);
    expect((await readAll(await b.read(kept))).toString()).toBe('kept');
  });

  it('two nodes that remove the same harm nothing, and what was removed stays known for a month', async () => {
    const refs = await a.append(Array.from({ length: 1200 }, () => entryOf('x')));
    const [{ segment } = { segment: 0 }] = refs;
    const other = await put(c);
    await clock.advance(GONE_MS);
    const removed = await Promise.all([collect(b), collect(c), collect(b)]);
    expect(new Set(removed.flat())).toEqual(new Set([segment, other.segment]));
    await clock.advance(LINGER_MS);
    expect(await rows()).toBe(1201);
    await Promise.all([b.unlink([segment, other.segment]), c.unlink([segment])]);
    expect(await rows()).toBe(0);
    expect(await b.idle()).toEqual([]);
    const known = () => server.run('SELECT segment FROM spool_segments WHERE emptied ORDER BY segment', url);
    expect(await known()).toHaveLength(2);
    await clock.advance(30 * 86_400_000);
    await b.idle();
    expect(await known()).toEqual([]);
  });

  it('many segments are emptied some at a time', async () => {
    const small = await open('d', 1);
    for (let i = 0; i < EMPTIED_AT_ONCE + 3; i++) await put(small);
    await small.close();
    await clock.advance(GONE_MS);
    const segments = await collect(b);
    expect(segments).toHaveLength(EMPTIED_AT_ONCE + 3);
    await clock.advance(LINGER_MS);
    await collect(b);
    expect(await b.idle()).toEqual(segments.slice(EMPTIED_AT_ONCE));
    await collect(c);
    expect(await rows()).toBe(0);
  });

  it('a node that was stopped between contents and facts cannot acknowledge what others removed', async () => {
    const [early, late] = [await put(a), await put(a)];
    await clock.advance(GONE_MS);
    expect(await collect(b)).toEqual([late.segment]);
    await expect(accept(early)).rejects.toThrow();
    await clock.advance(LINGER_MS);
    await collect(b);
    await expect(accept(late)).rejects.toThrow();
    expect(await stores.store.liveSegments([late.segment])).toEqual(new Map([[late.segment, 0]]));
  });

  it('what others removed of a node that was stopped does not keep it from collecting the rest', async () => {
    const undecided = await put(a);
    await clock.advance(SEGMENT_MS);
    expect(await a.idle(), 'it is sealed, and not decided on').toEqual([]);
    const rest = await put(a);
    a.decided([rest]);
    await clock.advance(GONE_MS - SEGMENT_MS);
    expect(await collect(b)).toEqual([undecided.segment]);
    await clock.advance(LINGER_MS);
    expect(await collect(a)).toEqual([rest.segment]);
  });

  it('a node that was taken for dead writes to a segment of its own again', async () => {
    const before = await put(a);
    await server.run(`UPDATE spool_segments SET opened_at = 0`, url);
    expect(await b.idle()).toEqual([before.segment]);
    const after = await put(a, 'alive');
    expect(after.segment).not.toBe(before.segment);
    await accept(after);
    expect((await readAll(await b.read(after))).toString()).toBe('alive');
    a.decided([after]);
    await clock.advance(SEGMENT_MS);
    expect(await a.idle()).toContain(after.segment);
    expect(await a.idle()).not.toContain(before.segment);
  });

  it('a fact of which the collector did not know keeps the contents', async () => {
    const ref = await put(a, 'kept');
    a.decided([ref]);
    await clock.advance(SEGMENT_MS);
    const idle = await a.idle();
    expect(await stores.store.liveSegments(idle)).toEqual(new Map([[ref.segment, 0]]));
    // Its answer was lost, and so the engine held it for decided.
    await accept(ref);
    await a.unlink(idle);
    await clock.advance(LINGER_MS);
    expect(await a.idle(), 'asked about anew').toEqual([ref.segment]);
    expect(await collect(a)).toEqual([]);
    expect((await readAll(await b.read(ref))).toString()).toBe('kept');
  });

  it('a segment of which little lives is emptied by compaction, and then removed', async () => {
    const lease = await takeLane(stores.store);
    const accepted = async (text: string, fence: number | null) => {
      const record = message({ deliveries: [recipient({ fence })] });
      const refs = await a.append([{ ...entryOf(text), messageId: record.id }]);
      await stores.store.accept([{ ...record, content: refs[0] ?? record.content }], at());
      a.decided(refs);
      return record.id;
    };
    const alive = await accepted('alive', null);
    for (let i = 0; i < 20; i++) {
      const id = await accepted(`dead ${i} ${'x'.repeat(500)}`, lease.fence);
      await attempt(stores.store, refTo(id, lease), [CAPTURED], at());
    }
    await stores.store.releaseLanes([lease], at());
    await stores.store.purge(
      { ...NOTHING_KEPT, recordAgeMs: 1e12, eventAgeMs: 1e12, feedbackAgeMs: 1e12, maxUnsubscribeLinks: 9 },
      1000,
      at(),
    );
    await clock.advance(SEGMENT_MS);
    const collection = new Collection();
    const settings = () => ({ compactBelowPercent: 25 });
    const deps = { store: stores.store, spool: a, node: 'a', settings, collection };
    const awake = { wall: () => clock.wall(), mono: () => clock.mono(), sleep: async () => {} };
    const record = new UpkeepRecord(null, awake);
    await new Compaction({ ...deps, clock: awake, record }).round(new AbortController().signal);
    const moved = (await stores.views.message(alive))?.message.content;
    if (!moved) throw new Error('it has no contents');
    const dead = await collect(a);
    expect(dead).toHaveLength(1);
    expect(dead).not.toContain(moved.segment);
    await clock.advance(LINGER_MS);
    expect(await collect(a)).toEqual(dead);
    expect(await rows()).toBe(1);
    expect((await readAll(await b.read(moved))).toString()).toBe('alive');
  });
});
