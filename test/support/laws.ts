/** Who may import whom: `test/tidy.test.ts` holds the rooms of src to this. */

/** The shapes of the API's answers, by subject. */
const SUBJECTS = ['', 'attempt-', 'event-', 'operator-', 'request-', 'suppression-', 'template-', 'webhook-'];
const API_ANSWERS = SUBJECTS.map((subject) => `ingest/http/${subject}answers.ts`);

/** The seams: contracts in prose and types, that others implement. */
const CONTRACTS = ['store', 'spool', 'transport'];
const PURE_BUILTINS = /^node:(buffer|crypto|url|util|zlib|punycode)$/;

/** What a room may import: other rooms or single files, and packages or Node's own modules by name. */
export interface Law {
  readonly rooms: readonly string[];
  readonly packages: RegExp;
}

/** A room is the longest of these that a file's path under src begins with. */
export const LAWS: Readonly<Record<string, Law>> = {
  domain: { rooms: [], packages: /^$/ },
  lib: { rooms: [], packages: /^node:/ },
  'lib/organizational-domain.ts': { rooms: [], packages: /^tldts$/ },
  smtp: { rooms: ['domain', 'lib'], packages: PURE_BUILTINS },
  mail: { rooms: ['domain', 'lib'], packages: PURE_BUILTINS },
  dns: { rooms: ['domain', 'lib'], packages: PURE_BUILTINS },
  // The language of templates: texts and values in, texts out.
  templates: { rooms: ['domain', 'lib/clock.ts', 'mail/html-text.ts'], packages: /^$/ },
  'dns/client': { rooms: ['dns', 'domain', 'lib'], packages: /^node:/ },
  http: { rooms: ['lib'], packages: /^node:/ },
  tls: { rooms: ['domain', 'lib'], packages: /^node:/ },
  config: { rooms: ['domain', 'lib', 'store'], packages: /^(node:.*|yaml|zod)$/ },
  store: { rooms: ['domain'], packages: /^$/ },
  'store/plain': { rooms: ['store', 'domain'], packages: /^$/ },
  spool: { rooms: ['domain'], packages: /^$/ },
  'spool/sealing.ts': { rooms: ['spool', 'spool/record.ts', 'domain', 'lib'], packages: /^node:/ },
  'spool/record.ts': { rooms: ['spool', 'domain', 'lib'], packages: /^node:/ },
  transport: { rooms: ['domain', 'lib/stop.ts'], packages: /^$/ },
  postgres: { rooms: ['store', 'lib'], packages: /^(node:.*|pg)$/ },
  'store/postgres': {
    rooms: ['store', 'store/plain', 'postgres', 'domain', 'lib'],
    packages: /^(node:.*|pg)$/,
  },
  // A store over a store and a log: by their contracts, whoever keeps them.
  'store/logged': { rooms: ['store', 'spool', 'domain', 'lib'], packages: /^$/ },
  'store/sqlite': {
    rooms: ['store', 'store/plain', 'domain', 'lib'],
    packages: /^(node:.*|better-sqlite3)$/,
  },
  'spool/postgres': {
    rooms: [
      'spool',
      'spool/record.ts',
      'spool/sealing.ts',
      'store',
      'postgres',
      'domain',
      'lib',
      // How contents come into the transaction of their facts.
      'store/postgres/contents.ts',
    ],
    packages: /^(node:.*|pg)$/,
  },
  'spool/segments': {
    rooms: ['spool', 'spool/record.ts', 'spool/sealing.ts', 'domain', 'lib'],
    packages: /^node:/,
  },
  'transport/smtp': { rooms: ['transport', 'domain', 'lib', 'smtp', 'mail', 'dns'], packages: /^node:/ },
  'transport/mx': {
    rooms: ['transport', 'transport/smtp', 'domain', 'lib', 'smtp', 'dns'],
    packages: /^node:/,
  },
  'transport/providers': {
    rooms: ['transport', 'domain', 'lib', 'mail', 'dns'],
    packages: /^(node:.*|undici)$/,
  },
  // Signs mail at acceptance; `engine/contract.ts` is its contract.
  signing: { rooms: ['engine/contract.ts', 'domain', 'lib', 'mail'], packages: /^node:/ },
  'transport/inbox': { rooms: ['transport', 'domain', 'lib'], packages: /^node:/ },
  engine: { rooms: ['domain', 'mail', 'lib', ...CONTRACTS, 'observe/events.ts'], packages: PURE_BUILTINS },
  ingest: {
    rooms: [
      'engine/contract.ts',
      'smtp',
      'mail',
      'http',
      'domain',
      'lib',
      ...CONTRACTS,
      'observe/events.ts',
      'operations',
      'preflight/contract.ts',
      'preview/parsed.ts',
      'reports',
      'templates',
      'lib/organizational-domain.ts',
    ],
    packages: /^(node:.*|zod)$/,
  },
  // Orders certificates of authorities.
  acme: { rooms: ['domain', 'lib', 'store', 'tls'], packages: /^(node:.*|jose)$/ },
  // Watches the server, and tells operators.
  alerts: {
    rooms: [
      'engine/contract.ts',
      'domain',
      'lib',
      'mail',
      'observe',
      'store',
      'transport/providers/webhook-post.ts',
    ],
    packages: /^node:util$/,
  },
  // Carries the operations out, over all rooms below; not over those that show them or put everything together.
  control: {
    rooms: [
      'accounts',
      'acme',
      'alerts',
      'backup',
      'config',
      'dns',
      'dns/client',
      'domain',
      'engine',
      'http',
      'ingest',
      'lib',
      'lib/organizational-domain.ts',
      'mail/compose.ts',
      'migrate',
      'observe',
      'oidc',
      'operations',
      'postgres',
      'preflight',
      'preview',
      'reports',
      'signing',
      'smtp',
      'spool',
      'spool/record.ts',
      'spool/sealing.ts',
      'spool/postgres',
      'spool/segments',
      'store',
      'store/logged',
      'store/postgres',
      'store/sqlite',
      'templates',
      'threads/backup-client.ts',
      'tls',
      'transport',
      'transport/inbox',
      'transport/mx',
      'transport/providers',
      'transport/smtp',
    ],
    packages: /^(node:.*|zod|csv-parse)$/,
  },
  // Aggregate reports between mail servers: DMARC's, which come in, and those on TLS, which go out.
  reports: {
    rooms: [
      'domain',
      'lib',
      'lib/organizational-domain.ts',
      'mail',
      'dns',
      'store',
      'engine/contract.ts',
      'observe/events.ts',
    ],
    packages: /^(node:(crypto|net|util|zlib)|htmlparser2)$/,
  },
  // What can be asked for, and of whom; of those who carry it out, and show it elsewhere, it knows types.
  operations: {
    rooms: [
      'domain',
      'lib',
      'http',
      'smtp',
      'config/kinds.ts',
      'config/relay-field.ts',
      'config/relay-fields.ts',
      'config/setting.ts',
      ...API_ANSWERS,
      'observe/health-report.ts',
    ],
    packages: /^zod$/,
  },
  // Runs in other people's programs, browsers too: nothing of ours, nothing of Node's.
  client: { rooms: [], packages: /^$/ },
  // Add matchers to the `expect` of these two, and run in them alone; of Jest's, types suffice.
  'client/testing/jest.ts': { rooms: ['client'], packages: /^expect$/ },
  'client/testing/vitest.ts': { rooms: ['client'], packages: /^vitest$/ },
  observe: { rooms: ['domain', 'http', 'lib', ...CONTRACTS], packages: /^node:/ },
  preflight: {
    rooms: ['domain', 'lib', 'lib/organizational-domain.ts', 'mail', 'preview'],
    packages: /^(node:.*|htmlparser2)$/,
  },
  preview: { rooms: ['domain', 'lib', 'mail'], packages: /^(node:.*|postal-mime)$/ },
  backup: {
    rooms: ['domain', 'lib', 'spool/record.ts', 'spool/segments', 'store/sqlite'],
    packages: /^(node:.*|zod)$/,
  },
  migrate: {
    rooms: [
      'domain',
      'lib',
      'postgres',
      'spool',
      'spool/sealing.ts',
      'spool/postgres',
      'spool/segments',
      'store',
      'store/logged',
      'store/postgres',
      'store/sqlite',
    ],
    packages: /^node:/,
  },
  // Signing in with an identity provider, as the accounts see one.
  oidc: {
    rooms: ['accounts/identity-provider.ts', 'domain', 'lib', 'transport/providers'],
    packages: /^(node:fs\/promises|openid-client)$/,
  },
  accounts: {
    rooms: ['domain', 'lib', 'store'],
    packages: /^(node:.*|lean-qr|zod|@simplewebauthn\/server)$/,
  },
  // The operations, and who may ask for them, are its contract; who does them is not its business.
  dashboard: {
    rooms: [
      'domain',
      'http',
      'lib',
      ...CONTRACTS,
      'observe',
      'tls',
      'operations',
      'control/door.ts',
      'accounts',
    ],
    packages: /^(node:.*|zod|@simplewebauthn\/server)$/,
  },
};

/** These put the rooms together, and may import anything. */
export const FREE_ROOMS = ['app', 'app.ts', 'main.ts', 'threads', 'cli'];
