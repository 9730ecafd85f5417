import { afterAll, beforeAll } from 'vitest';
import { openPostgres, type PostgresOptions, type PostgresStores } from '../../src/store/postgres/open.ts';
import { describeWith } from '../peers/need.ts';
import { POSTGRES_PROGRAMS, Postgres } from '../peers/postgres.ts';
import { storeContract } from './store/contract.ts';
import type { Subject, SubjectOptions } from './store/fixtures.ts';

describeWith(POSTGRES_PROGRAMS, 'PostgreSQL', () => {
  let server: Postgres;
  const subjects: Subjects[] = [];
  beforeAll(async () => {
    server = await Postgres.start();
  });
  afterAll(async () => {
    for (const one of subjects) await one.close();
    await server.stop();
  });

  storeContract('the store', async (limits = {}) => {
    const known = subjects.find((one) => one.isFree(limits));
    // Emptying the parts of days would take longer than the tests; postgres-history.test.ts has them.
    const options = { ...limits, connections: 4, daysAhead: null };
    const subject = known ?? new Subjects(server, { ...options, url: await server.schema() });
    if (known === undefined) subjects.push(subject);
    return subject.open();
  });
});

/** One store after another in one schema, which is emptied in between: its connections are warm by then. */
class Subjects {
  readonly #server: Postgres;
  readonly #options: PostgresOptions;
  #stores: PostgresStores | null = null;
  #isOpen = false;

  constructor(server: Postgres, options: PostgresOptions) {
    this.#server = server;
    this.#options = options;
  }

  /** Whether a store with these limits can be opened now. */
  isFree({ maxExamined, eventsKept }: SubjectOptions): boolean {
    const { maxExamined: hasExamined, eventsKept: hasKept } = this.#options;
    return !this.#isOpen && maxExamined === hasExamined && eventsKept === hasKept;
  }

  async open(): Promise<Subject> {
    this.#isOpen = true;
    this.#stores ??= await openPostgres(this.#options);
    return {
      ...this.#stores,
      reopen: async () => {
        await this.close();
        return this.open();
      },
      books: () => this.#books(),
      close: async () => {
        await this.#server.run(EMPTY, this.#options.url);
        this.#isOpen = false;
      },
    };
  }

  async close(): Promise<void> {
    await this.#stores?.store.close();
    this.#stores = null;
  }

  async #books() {
    const queues = await this.#server.run('SELECT key_id, messages FROM key_queues', this.#options.url);
    const gauges = await this.#server.run('SELECT name, value FROM gauges', this.#options.url);
    const values = new Map(gauges.map(({ name, value }) => [name, Number(value)]));
    return {
      queues: new Map(queues.map(({ key_id, messages }) => [String(key_id), Number(messages)])),
      sentBytes: values.get('sent_bytes') ?? 0,
      capturedBytes: values.get('captured_bytes') ?? 0,
    };
  }
}

const TABLES =
  `messages deliveries attempts message_tags message_words pending_words idempotency lanes depths segments counters
  gauges key_queues keys key_secrets signing_secrets relays settings holds route_tables quotas domains journal users
  recovery_codes passkeys spent_challenges sessions setup_links events suppressions suppression_counts aftermath soft_bounces
  feedback told_once early_feedback unsubscribe_links webhook_endpoints webhook_deliveries webhook_cursor templates
  template_versions alert_rules alert_channels alert_silences alerts request_log dmarc_reports dmarc_rows tls_sessions
  tls_reports traffic traffic_replies erasures acme_accounts acme_certificate acme_challenges saved_views story_links`.split(
    /\s+/,
  );

/** To truncate them, with their parts and indexes, takes far longer than to delete the few rows of a test. */
const EMPTY = [
  'BEGIN',
  'SET LOCAL session_replication_role = replica',
  ...TABLES.map((name) => `DELETE FROM ${name}`),
  'COMMIT',
].join(';');
