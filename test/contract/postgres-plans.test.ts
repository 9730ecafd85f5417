import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { parseQuery } from '../../src/domain/query.ts';
import { suppressionKeys } from '../../src/domain/suppressed-address.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { Pseudonyms } from '../../src/lib/pseudonym.ts';
import { Database } from '../../src/postgres/database.ts';
import { openPostgres } from '../../src/store/postgres/open.ts';
import { Partitions } from '../../src/store/postgres/partitions.ts';
import { plainStores } from '../../src/store/postgres/plain.ts';
import { storeOver } from '../../src/store/postgres/verbs.ts';
import { viewsOver } from '../../src/store/postgres/views.ts';
import type { Store } from '../../src/store/store.ts';
import type { Views } from '../../src/store/views.ts';
import { describeWith } from '../peers/need.ts';
import { POSTGRES_PROGRAMS, Postgres } from '../peers/postgres.ts';
import {
  apiKey,
  at,
  attempt,
  beginAll,
  claim,
  DAY,
  DEFERRED,
  DELIVERED,
  KEEP_ALL,
  MINUTE,
  message,
  refOf,
  releaseAll,
  T0,
  takeLane,
} from './store/fixtures.ts';

const TERMS = { eventsKept: 'all', pseudonyms: new Pseudonyms() } as const;

/** A node of a plan, as EXPLAIN tells of it. */
interface PlanNode {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly 'Index Name'?: string;
  readonly Filter?: string;
  readonly Plans?: readonly PlanNode[];
}

interface Prepared {
  readonly name: string;
  readonly statement: string;
  readonly parameters: number;
}

/** The parts of what is no longer open. */
const PAST = /^(messages_kept|messages_gone|deliveries_final|attempts|message_tags|message_words)/;
const DAYS = [0, 1, 2, 3, 4, 5, 6, 7].map((days) => Math.floor(T0 / DAY) - days);

/** What statements look at, as the server plans them while it knows nothing of the tables: how long they take decides no test. */
describeWith(POSTGRES_PROGRAMS, 'plans over PostgreSQL', () => {
  let server: Postgres;
  let database: Database;
  let store: Store;
  let views: Views;
  beforeAll(async () => {
    server = await Postgres.start();
  });
  afterAll(() => server.stop());
  beforeEach(async () => {
    const url = await server.schema();
    const maker = await openPostgres({ url, allowUnsafe: true, daysAhead: null });
    await new Partitions(maker.database).makeDays(DAYS);
    await maker.store.close();
    // One connection, whose prepared statements can be asked about.
    database = new Database({ url, byIndex: true, connections: 1 });
    store = storeOver(database, new Partitions(database, null), TERMS, () => database.close());
    views = viewsOver(database, {}, systemClock);
    return () => store.close();
  });

  /** The plans of what was asked since the connection was made and contains a text; for nulls, unless there are values. */
  async function plans(text = '', values: readonly string[] = []): Promise<Map<string, PlanNode[]>> {
    const prepared = await database.rows<Prepared>(
      `SELECT name, statement, coalesce(array_length(parameter_types, 1), 0) AS parameters
        FROM pg_prepared_statements
        WHERE statement ~ '^\\s*(SELECT|INSERT|UPDATE|DELETE|WITH)' AND strpos(statement, $1) > 0`,
      [text],
    );
    const found = new Map<string, PlanNode[]>();
    for (const { name, statement, parameters } of prepared) {
      const given = Array.from({ length: parameters }, (_, place) => values[place] ?? 'NULL');
      const list = parameters === 0 ? '' : `(${given.join(', ')})`;
      const [row] = await database.rows<{ 'QUERY PLAN': { Plan: PlanNode }[] }>(
        `EXPLAIN (FORMAT JSON) EXECUTE ${name}${list}`,
      );
      found.set(statement, row?.['QUERY PLAN'].flatMap(({ Plan }) => nodesOf(Plan)) ?? []);
    }
    return found;
  }

  it('the hot verbs never look at the past, and find each row of what is open by its index', async () => {
    const lease = await takeLane(store);
    await store.accept([message(), message()], at());
    for (const [outcome, stamp] of [
      [DEFERRED, at()],
      [DELIVERED, at(10 * MINUTE)],
    ] as const) {
      const units = await claim(store, lease, 2, stamp);
      const [unit, other] = units.map(refOf);
      if (unit === undefined) throw new Error('nothing was claimed');
      await attempt(store, unit, [outcome], stamp);
      if (other === undefined) throw new Error('too little was claimed');
      await beginAll(store, [other], stamp);
      await releaseAll(store, [other], stamp);
    }
    const scans = [...(await plans())].flatMap(([statement, nodes]) =>
      nodes
        .filter((node) => node['Node Type'].includes('Scan') && node['Relation Name'] !== undefined)
        .map((node) => ({ statement, relation: node['Relation Name'] ?? '', type: node['Node Type'] })),
    );
    expect(scans.length).toBeGreaterThan(10);
    expect(scans.filter(({ relation }) => PAST.test(relation))).toEqual([]);
    expect(scans.filter(({ relation, type }) => /_open$/.test(relation) && type.startsWith('Seq'))).toEqual(
      [],
    );
  });

  it('a claim finds what is due by its lane, and the deliveries of a message by the message', async () => {
    const lease = await takeLane(store);
    await store.accept([message()], at());
    await claim(store, lease);
    const indexes = [...(await plans())].flatMap(([statement, nodes]) => {
      const used = nodes.flatMap((node) => (node['Index Name'] === undefined ? [] : [node['Index Name']]));
      if (statement.includes('ORDINALITY AS ranks')) return [{ asks: 'what is due', used }];
      if (statement.startsWith('SELECT least(')) {
        const types = nodes.map((node) => node['Node Type']);
        expect(types.filter((type) => type === 'Aggregate' || type === 'Sort')).toEqual([]);
        return [{ asks: 'what is due next', used }];
      }
      if (statement.includes('row_number()')) return [{ asks: 'siblings', used }];
      return statement.startsWith('UPDATE deliveries') ? [{ asks: 'lease', used }] : [];
    });
    expect(indexes).toContainEqual({ asks: 'what is due', used: ['deliveries_waiting'] });
    const next = Array<string>(3).fill('deliveries_waiting');
    expect(indexes).toContainEqual({ asks: 'what is due next', used: next });
    expect(indexes).toContainEqual({ asks: 'siblings', used: ['deliveries_open_place'] });
    expect(indexes).toContainEqual({ asks: 'lease', used: ['deliveries_open_place'] });
  });

  it('a page of a key goes by the index of the key, in each part', async () => {
    await views.list({ owner: { keyId: 'key_one' }, statuses: [], before: null, limit: 5 });
    const values = [`'~'`, `''`, '5', `'key_one'`, `'{queued,delivered}'`];
    const nodes = [...(await plans('wanted (status)', values)).values()].flat();
    const used = nodes.flatMap((node) => node['Index Name'] ?? []);
    expect(used.length).toBeGreaterThan(DAYS.length);
    expect(used.filter((name) => !name.includes('_key_id_status_id_'))).toEqual([]);
  });

  it('a page of what is in trouble goes by the index of that, in each part', async () => {
    await views.list({ owner: 'all', statuses: ['failed', 'retrying'], before: null, limit: 5 });
    const values = [`'~'`, `''`, '5', `'{failed,retrying}'`];
    const nodes = [...(await plans('wanted (status)', values)).values()].flat();
    const used = nodes.flatMap((node) => node['Index Name'] ?? []);
    expect(used.length).toBeGreaterThan(DAYS.length);
    expect(used.filter((name) => !/^messages_\w+?_status_id_/.test(name) || /key_id/.test(name))).toEqual([]);
  });

  it('what a next hop took goes by the index of its ids, in each part', async () => {
    const { query } = parseQuery('hello hop:4BQ');
    await views.search({ query, after: null, before: null, limit: 5 });
    const values = [`'~'`, `''`, '5', `'4BQ'`];
    const nodes = [...(await plans('AS named', values)).values()].flat();
    const used = nodes.flatMap((node) => node['Index Name'] ?? []);
    expect(used.length).toBeGreaterThan(DAYS.length);
    expect(used.filter((name) => !name.includes('provider_message_id'))).toEqual([]);
    // From the newest on, so that the limit ends it: a peer may give all mail the same id.
    const merged = nodes.find((node) => node['Node Type'] === 'Merge Append')?.Plans ?? [];
    expect(new Set(merged.map((node) => node['Node Type']))).toEqual(new Set(['Index Only Scan']));
  });

  it('a search by words reads neither metadata nor replies', async () => {
    await store.accept([message()], at());
    for (const text of ['-nothing', '-hop:4BQ', '-metadata:nothing'])
      await views.search({ query: parseQuery(text).query, after: null, before: null, limit: 5 });
    const facts = [...(await plans('AS "sendAt"')).keys()];
    const recipients = [...(await plans('AS "hopId"')).keys()];
    expect(facts.map((sql) => sql.includes('box, metadata')).sort()).toEqual([false, true]);
    expect(recipients.map((sql) => sql.includes('last_reply')).sort()).toEqual([false, true]);
  });

  it('old counters of relays are told from the others by the index alone', async () => {
    await store.purge(KEEP_ALL, 10, at());
    const scans = [...(await plans('DELETE FROM counters')).entries()].flatMap(([statement, nodes]) =>
      statement.includes('relay') ? nodes.filter((node) => node['Relation Name'] === 'counters') : [],
    );
    const searches = scans.filter((node) => node['Node Type'].includes('Scan'));
    expect(searches.length).toBeGreaterThan(0);
    expect(searches.filter((node) => node.Filter !== undefined)).toEqual([]);
  });

  it('records of a key with days of its own go by the index of the key, in each part; without such keys nobody looks', async () => {
    const looking = 'final_at <= $4 AND kept IN';
    await store.purge(KEEP_ALL, 10, at());
    expect([...(await plans(looking))]).toEqual([]);
    const { keyring } = plainStores(database, TERMS.pseudonyms);
    await keyring.create(apiKey('key_one', { recordDays: 1 }), 'hash');
    await store.purge(KEEP_ALL, 10, at());
    const values = [`'key_one'`, `'delivered'`, `'~'`, '9', '5'];
    const nodes = [...(await plans(looking, values)).values()].flat();
    const used = nodes.flatMap((node) => node['Index Name'] ?? []);
    expect(used.length).toBeGreaterThan(DAYS.length);
    expect(used.filter((name) => !name.includes('_key_id_status_id_'))).toEqual([]);
    expect(nodes.filter((node) => /^(Seq Scan|Sort)$/.test(node['Node Type']))).toEqual([]);
    expect(nodes.filter((node) => node['Relation Name'] === 'messages_open')).toEqual([]);
  });

  it('suppressed recipients are found, and pages of entries read, by their indexes alone', async () => {
    const { suppressions } = plainStores(database, TERMS.pseudonyms);
    await suppressions.suppressionsUnder(suppressionKeys('ann@a.b.c.d.e.example.org'));
    const query = {
      address: null,
      domain: null,
      reason: null,
      scopes: null,
      stream: null,
      since: null,
      until: null,
      limit: 5,
      before: null,
      now: T0,
    };
    await suppressions.suppressions({ ...query, domain: 'example.org' });
    await suppressions.suppressions({ ...query, scopes: ['key:key_1'] });
    await suppressions.suppressions({ ...query, address: 'ann@example.org' });
    const used = async (part: string, values: readonly string[]) =>
      [...(await plans(part, values)).values()].flat().flatMap((node) => {
        const { 'Index Name': index, 'Node Type': type } = node;
        return type === 'Seq Scan' ? [type] : (index ?? []);
      });
    // Besides, by their domain, whether there are entries of people who were erased.
    const under = await used('address = ANY', [`'{a@b.c,*@b.c}'`, `'erased.invalid'`]);
    expect(under).toEqual(['suppressions_by_domain', 'suppressions_by_address', 'suppressions_pkey']);
    expect(await used('address = $1', [`'a@b.c'`])).toEqual(['suppressions_by_address']);
    expect(await used('domain = $1', [`'b.c'`, `'~'`, '5'])).toEqual(['suppressions_by_domain']);
    expect(await used('scope = $1', [`'key:key_1'`, `'~'`, '5'])).toEqual(['suppressions_by_scope']);
  });

  it('a message is looked for in the day of its id alone', async () => {
    const record = message();
    await store.accept([record], at());
    await views.message(record.id);
    const id = `'${record.id}'`;
    const nodes = [...(await plans('json_agg', [`ARRAY[${id}]`, id, id])).values()].flat();
    const relations = nodes.flatMap((node) => node['Relation Name'] ?? []);
    expect(relations.filter((relation) => /_\d{8}$/.test(relation)).sort()).toEqual([
      'deliveries_final_20261120',
      'messages_gone_20261120',
    ]);
  });
});

function nodesOf(node: PlanNode): PlanNode[] {
  return [node, ...(node.Plans ?? []).flatMap(nodesOf)];
}
