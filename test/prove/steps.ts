/** The long forms: which suite, how often in all, and how it is told where to go on. */

/** One promise that is held by doing something again and again. */
export interface Step {
  readonly name: string;
  /** What holds when all runs of it went well: a sentence. */
  readonly holds: string;
  readonly files: readonly string[];
  /** What is counted. */
  readonly unit: string;
  /** How often in all. */
  readonly target: number;
  /** The least that one run does. */
  readonly least: number;
  /** What one run, of so many after so many, has in its environment. */
  environment(count: number, before: number): Readonly<Record<string, string>>;
  /** True: does all in one run, or nothing. */
  readonly whole?: boolean;
  /** Of a whole one, how long it takes, until a run has told. */
  readonly seconds?: number;
}

/**
 * Since when runs count: by then what checks was changed, and so was what is checked. All before is told of, too. Whoever
 * wants the totals of a later program sets a later time.
 */
export const SINCE = '2026-11-29T12:45:00Z';

/** The seeds below are those of `npm test`. */
const FIRST_SEED = 1001;

/** By `times(what, …)` of `test/support/proof.ts`. */
function counted(what: string): Step['environment'] {
  return (count, before) => ({
    [`WAYBILL_TIMES_${what.toUpperCase()}`]: String(count),
    WAYBILL_BEFORE: String(before),
  });
}

/** At every call of a path, where `npm test` takes every so-manieth by `times('…_stride', …)`. */
function atEveryCall(...strides: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(strides.map((what) => [`WAYBILL_TIMES_${what.toUpperCase()}_STRIDE`, '1']));
}

function seeded(count: number, before: number): Readonly<Record<string, string>> {
  const first = FIRST_SEED + before;
  return { WAYBILL_SEEDS: `${first}-${first + count - 1}` };
}

/** Inputs for each parser of these files of `test/fuzz`. */
function fuzzed(name: string, what: string, files: readonly string[]): Step {
  return {
    name: `fuzz-${name}`,
    holds: `No parser ${what}, throws, stalls or contradicts itself, whatever it is given.`,
    files: files.map((file) => `test/fuzz/${file}.test.ts`),
    unit: 'inputs each',
    target: 300_000,
    least: 20_000,
    environment: counted('fuzz_inputs'),
  };
}

/** In the order of their importance: of those that are equally far, the first goes on. */
export const STEPS: readonly Step[] = [
  {
    name: 'crashes-sqlite',
    holds:
      'A process over SQLite is killed at random while eight write and it delivers: nothing acknowledged is lost.',
    files: ['test/crash/crash.test.ts'],
    unit: 'kills',
    target: 1000,
    least: 20,
    environment: counted('crashes'),
  },
  {
    name: 'crashes-postgres',
    holds: 'The same over a PostgreSQL that stays up.',
    files: ['test/crash/crash-postgres.test.ts'],
    unit: 'kills',
    target: 1000,
    least: 20,
    environment: counted('crashes_postgres'),
  },
  {
    name: 'kills-at-calls',
    holds:
      'A process dies at each write and flush that a message takes, one after the other: nothing acknowledged is lost.',
    files: ['test/crash/kills-at-calls.test.ts'],
    unit: 'rounds of all calls',
    target: 1,
    least: 1,
    environment: (count, before) => ({ ...counted('call_rounds')(count, before), ...atEveryCall('call') }),
  },
  {
    name: 'upgrades-and-restores',
    holds:
      'Upgrades from each schema of which there are data, and restores, die at each write, flush and rename: nothing is missing, or all is refused.',
    files: ['test/crash/upgrade.test.ts', 'test/crash/backup.test.ts'],
    unit: 'rounds of all calls',
    target: 1,
    least: 1,
    environment: () => atEveryCall('upgrade', 'restore'),
    whole: true,
    seconds: 900,
  },
  {
    name: 'compactions',
    holds: 'A process is killed while it compacts its segments and delivers: nothing acknowledged is lost.',
    files: ['test/crash/compaction.test.ts'],
    unit: 'kills',
    target: 100,
    least: 12,
    environment: counted('compactions'),
  },
  {
    name: 'power-cuts',
    holds:
      'The power is cut at any step of a recorded process, and what was not flushed is lost or torn: no promise is broken.',
    files: ['test/crash/power-cut.test.ts'],
    unit: 'cuts',
    target: 2000,
    least: 2000,
    environment: counted('power_cuts'),
  },
  {
    name: 'log-deaths',
    holds:
      'A store behind the log dies again and again, also while it writes: its answers, and every row after each start, are those of a plain store that never died.',
    files: ['test/simulation/log-deaths.test.ts'],
    unit: 'histories',
    target: 2000,
    least: 60,
    environment: counted('log_deaths'),
  },
  {
    name: 'log-start',
    holds: 'A start after a death with a long log finds every message, its contents and what became of it.',
    files: ['test/crash/log-start.test.ts'],
    unit: 'facts',
    target: 100_000,
    least: 100_000,
    environment: counted('replayed_facts'),
    whole: true,
    seconds: 120,
  },
  {
    name: 'simulation',
    holds:
      'Simulated histories of one to three engines over one SQLite, with every fault, keep every promise.',
    files: ['test/simulation/simulation.test.ts'],
    unit: 'seeds',
    target: 1500,
    least: 10,
    environment: seeded,
  },
  {
    name: 'simulation-log',
    holds: 'The same histories over the store behind the log, as one process has it over its data directory.',
    files: ['test/simulation/logged.test.ts'],
    unit: 'seeds',
    target: 1500,
    least: 10,
    environment: seeded,
  },
  {
    name: 'simulation-postgres',
    holds: 'The same histories over a real PostgreSQL.',
    files: ['test/simulation/postgres.test.ts'],
    unit: 'seeds',
    target: 100,
    least: 2,
    environment: seeded,
  },
  {
    name: 'simulation-webhooks',
    holds:
      'Endpoints of webhooks that are slow, dead, hostile, fickle, busy or gone, told by nodes that die: every event is told, given up after ten tries or left to a replay, and a healthy endpoint waits for none of them.',
    files: ['test/simulation/webhooks.test.ts'],
    unit: 'seeds',
    target: 3000,
    least: 50,
    environment: seeded,
  },
  {
    name: 'simulation-alerts',
    holds:
      'Relays come and go, told by nodes that die, hand over and lose the store, to channels that fail, by clocks that are set: an alert fires once for each cause, is over once, and neither is lost.',
    files: ['test/simulation/alerts.test.ts'],
    unit: 'histories',
    target: 3000,
    least: 50,
    environment: counted('alert_histories'),
  },
  {
    name: 'simulation-certificates',
    holds:
      'An authority that is slow, down, busy, refuses, or issues the wrong certificate, asked by nodes that die, stand still, lose the store and have wrong clocks: key and certificate match, one node orders at a time and none too often, and all is renewed in time once all is well.',
    files: ['test/simulation/certificates.test.ts'],
    unit: 'seeds',
    target: 300,
    least: 10,
    environment: seeded,
  },
  {
    name: 'round-trips',
    holds: 'What is exported, applied to an empty installation and exported again is the same.',
    files: [
      'src/control/declared/round-trip.test.ts',
      'test/contract/configuration-round-trip.postgres.test.ts',
    ],
    unit: 'files',
    target: 200,
    least: 50,
    environment: counted('round_trips'),
  },
  {
    name: 'failures',
    holds:
      'PostgreSQL and the nodes over it are killed under load: nothing is lost, no second copy goes unflagged.',
    files: ['test/cluster/failures.test.ts'],
    unit: 'failures',
    target: 100,
    least: 10,
    environment: counted('failures'),
  },
  {
    name: 'claims',
    holds: 'Twenty processes claim what is queued in one PostgreSQL, each message once.',
    files: ['test/cluster/claims.test.ts'],
    unit: 'claims',
    target: 200_000,
    least: 100_000,
    environment: (count, before) => ({ ...counted('claims')(count, before), WAYBILL_TIMES_CLAIMERS: '20' }),
  },
  fuzzed('smtp', 'of SMTP, in and out, and of what stands before it', [
    'smtp-receiver',
    'smtp-content',
    'smtp-command',
    'smtp-reply',
    'proxy-header',
  ]),
  fuzzed('mail', 'of addresses, headers and MIME, the preview too', [
    'mailbox',
    'header',
    'handed-in',
    'message-parts',
    'mail-forms',
    'preview',
  ]),
  fuzzed('bounces', 'of what comes to a return path, or is told as feedback', [
    'bounce',
    'feedback-report',
    'feedback',
  ]),
  fuzzed('before-sending', 'of templates, and of mail that is checked before it is sent', [
    'template',
    'preflight',
  ]),
  fuzzed('hooks', 'of the webhooks of providers', ['hook-body']),
  fuzzed('http', 'of requests: JSON, forms, queries, fields, searches', [
    'json',
    'multipart',
    'http-text',
    'http-field',
    'search',
  ]),
  fuzzed('providers', 'of mail that comes through the APIs of providers', ['provider-mail']),
  fuzzed('mailpit', 'of what test suites made for Mailpit search for', ['mailpit-search']),
  fuzzed('dns', 'of DNS answers, of what domains publish, and of certificates', ['dns-message', 'dns-text']),
  fuzzed('operator', 'of the configuration, of archives, of the spool, and of what providers answer', [
    'config',
    'archive',
    'spool',
    'provider-answer',
    'token-answer',
    'values',
    'pem',
  ]),
  {
    name: 'slow-http',
    holds: 'Slow headers, bodies, readers and ranges shut nobody out, by the report of the attacker himself.',
    files: ['test/security/slow-http.test.ts'],
    unit: 'seconds',
    target: 60,
    least: 60,
    environment: (count, before) => ({
      ...counted('slow_http_seconds')(count, before),
      WAYBILL_TIMES_SLOW_HTTP_CONNECTIONS: '400',
    }),
  },
  {
    name: 'looks',
    holds: 'No page of the dashboard has a serious finding of axe, in light, or in dark on a phone.',
    files: ['test/browser/looks.test.ts'],
    unit: 'looks',
    target: 2,
    least: 2,
    environment: counted('looks'),
    whole: true,
    seconds: 300,
  },
  {
    name: 'debian-package',
    holds:
      'On a machine that boots systemd the Debian package is installed, upgraded while mail waits, removed and purged, and no mail is lost.',
    files: ['test/e2e/debian.test.ts'],
    unit: 'machines',
    target: 1,
    least: 1,
    environment: () => ({}),
    whole: true,
    seconds: 150,
  },
  {
    name: 'tls-scan',
    holds:
      'A scanner of TLS finds nothing worse than LOW at any listener, but that nobody else signed the certificate.',
    files: ['test/security/tls-scan.test.ts'],
    unit: 'listeners',
    target: 4,
    least: 4,
    environment: counted('tls_scans'),
    whole: true,
    seconds: 300,
  },
  {
    name: 'overload',
    holds:
      'Clients that only cost, idle, slow, or with 25 MB each: others are served, memory is bounded, all recovers. With a million in the store, what is asked most costs what it did.',
    files: ['test/overload', 'test/e2e/smtp-memory.test.ts', 'src/store/sqlite/deep-queue.test.ts'],
    unit: 'idle connections',
    target: 10_000,
    least: 10_000,
    environment: (count, before) => ({
      ...counted('overload_idle')(count, before),
      WAYBILL_TIMES_OVERLOAD_SLOW_DATA: '1000',
      WAYBILL_TIMES_OVERLOAD_HTTP: '2000',
      WAYBILL_TIMES_OVERLOAD_FLOOD: '5000',
      WAYBILL_TIMES_OVERLOAD_UPLOADS: '100',
      WAYBILL_TIMES_OVERLOAD_READERS: '500',
      WAYBILL_TIMES_OVERLOAD_SOURCES: '8',
      WAYBILL_TIMES_SMTP_IDLE: String(count),
      WAYBILL_TIMES_SMTP_UPLOADS: '100',
      WAYBILL_TIMES_DEEP_QUEUE: '1000000',
    }),
    whole: true,
    seconds: 1800,
  },
  {
    name: 'soak',
    holds:
      'Mail with a fault a minute, without a restart, some of it by clients of providers, some of which comes back, and all of it told to a webhook: nothing is lost, memory and open files stay what they were.',
    files: ['test/soak'],
    unit: 'minutes',
    target: 60,
    least: 60,
    environment: counted('soak_minutes'),
    whole: true,
    seconds: 3900,
  },
];
