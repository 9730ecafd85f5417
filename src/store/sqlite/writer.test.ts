import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { at, message, recipient, refTo } from '../../../test/contract/store/fixtures.ts';
import type { LaneLease } from '../../domain/lane.ts';
import { type Driver, openBetterSqlite3 } from './driver.ts';
import { openNodeSqlite } from './node-sqlite.ts';
import { openDatabase } from './open.ts';
import { type Request, Writer } from './writer.ts';

const put = (name: string | null, value = '1'): Request => ({ verb: 'putSetting', args: [name, value] });
const SETTINGS: Request = { verb: 'settings', args: [] };

describe.each([
  ['better-sqlite3', openBetterSqlite3],
  ['node:sqlite', openNodeSqlite],
])('the writer over %s', (_name, driver) => {
  let db: Driver;
  let writer: Writer;
  /** Statements that make the next `exec` of theirs fail. */
  let faults: Map<string, unknown>;
  beforeEach(() => {
    faults = new Map();
    const faulty = (path: string): Driver => {
      const real = driver(path);
      const exec = (sql: string) => {
        const fault = faults.get(sql);
        if (fault !== undefined) throw fault;
        real.exec(sql);
      };
      return { ...real, exec };
    };
    db = openDatabase(':memory:', { driver: faulty });
    writer = new Writer(db);
  });
  afterEach(() => writer.close());

  const codes = (requests: readonly Request[]) =>
    writer.commit(requests).map((answer) => (answer.ok ? 'ok' : answer.error.code));
  const settings = () => {
    const [answer] = writer.commit([SETTINGS]);
    return answer?.ok === true ? [...(answer.value as Map<string, string>).keys()] : null;
  };

  it('commits requests together, in order', () => {
    const [, answer] = writer.commit([put('a'), SETTINGS]);
    expect(answer).toEqual({ ok: true, value: new Map([['a', '1']]) });
  });

  it('lets a faulty request fail alone', () => {
    expect(codes([put('a'), put(null), put('b')])).toEqual(['ok', 'store_bug', 'ok']);
    expect(settings()).toEqual(['a', 'b']);
  });

  it('lets facts that come too early fail alone', () => {
    const end = { segment: 1, offset: 20 };
    const early: Request = { verb: 'apply', args: [[], { segment: 1, offset: 10 }, end, []] };
    const first: Request = { verb: 'apply', args: [[], null, end, []] };
    expect(codes([early, put('a'), first])).toEqual(['store_busy', 'ok', 'ok']);
    expect(settings()).toEqual(['a']);
  });

  it('counts once what was rolled back with a faulty request and done again', () => {
    const tally: Request = { verb: 'tally', args: [[{ event: 'denied', count: 1 }], { node: 'a', now: 0 }] };
    expect(codes([tally, put(null)])).toEqual(['ok', 'store_bug']);
    const denied = db.prepare<[], [number]>("SELECT count FROM counters WHERE period = 'day'").get();
    expect(denied).toEqual([1]);
  });

  it('takes off a quota once what was rolled back with a faulty request and done again', () => {
    const stamp = at();
    const run = <T>(verb: Request['verb'], ...args: unknown[]) => {
      const [answer] = writer.commit([{ verb, args }]);
      if (answer?.ok !== true) throw answer?.error;
      return answer.value as T;
    };
    const [lease] = run<LaneLease[]>('acquireLanes', ['out'], 0, stamp.now + 1, stamp);
    if (lease === undefined) throw new Error('nothing was granted');
    const record = message({ deliveries: [recipient({ fence: lease.fence })] });
    run('accept', [record], stamp);
    const quota = { relay: 'out', day: 1, recipients: 3, limit: 5 };
    const begin: Request = { verb: 'begin', args: [[{ ...refTo(record.id, lease), quota }], stamp] };
    expect(writer.commit([begin, put(null)])[0]).toEqual({ ok: true, value: ['begun'] });
    expect(db.prepare<[], [number]>('SELECT used FROM quotas').all()).toEqual([[3]]);
  });

  it('rolls back and goes on when there is no room', () => {
    codes([put('a')]);
    const pages = db.prepare<[], [number]>('PRAGMA page_count').get()?.[0] ?? 0;
    db.exec(`PRAGMA max_page_count = ${pages}`);
    const big = put('big', 'x'.repeat(100_000));
    expect(codes([put('b'), big])).toEqual(['ok', 'store_full']);
    expect(codes([SETTINGS, big, SETTINGS]), 'who reads needs no room').toEqual(['ok', 'store_full', 'ok']);
    expect(settings()).toEqual(['a', 'b']);
    db.exec('PRAGMA max_page_count = 1000000');
    expect(codes([big])).toEqual(['ok']);
  });

  it('writes nothing any more once the disk has failed', () => {
    const fault = Object.assign(new Error('disk I/O error'), { code: 'SQLITE_IOERR_FSYNC', errcode: 1034 });
    faults.set('COMMIT', fault);
    expect(codes([put('a'), put('b')])).toEqual(['store_failed', 'store_failed']);
    faults.clear();
    expect(codes([put('c')])).toEqual(['store_failed']);
  });

  it('says so when it is closed', () => {
    writer.close();
    expect(codes([put('a')])).toEqual(['store_closed']);
    writer = new Writer(openDatabase(':memory:', { driver }));
  });
});
