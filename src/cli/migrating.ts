import { formatFault } from '../config/fault.ts';
import { dataDirectory, earlyConfig, type LoadOptions, loadConfig, NOTHING_STORED } from '../config/load.ts';
import type { Config } from '../config/schema.ts';
import { isServerRunning } from '../control/client.ts';
import { contentKeysFor } from '../control/content-keys.ts';
import { engineSettings, storedRows } from '../control/in-force.ts';
import { holdDirectory, layoutOf, requireDataDirectory } from '../control/layout.ts';
import { databaseOptions } from '../control/shared-storage.ts';
import { becomeOwnerOf } from '../lib/command.ts';
import { type Migrated, migrate, undo } from '../migrate/migration.ts';
import { openPostgresSide } from '../migrate/postgres-side.ts';
import type { MigrationStep, Side, TakeBack } from '../migrate/side.ts';
import { openSqliteSource, openSqliteTarget } from '../migrate/sqlite-side.ts';
import { MAX_NAMED } from '../migrate/verify.ts';
import { UNPUBLISHED } from '../store/registry.ts';
import { type CommonOptions, type Context, print } from './context.ts';
import { bytesText, percentOf, type StepText, stepTeller } from './step-teller.ts';
import { counted, Exit } from './terminal.ts';

/** What `waybill migrate` is told. */
export interface MigrateOptions extends CommonOptions {
  readonly to?: string;
  readonly undo?: true;
}

/** Does what `waybill migrate` was told to. */
export async function runMigration(context: Context, options: MigrateOptions): Promise<void> {
  const { environment } = context.terminal;
  const dataDir = dataDirectory(options.data, environment);
  requireDataDirectory(dataDir);
  if (await isServerRunning(dataDir))
    throw new Exit(1, `A server is running on ${dataDir}: stop it first, and every other node.`);
  const load = { dataDir, configFile: options.config, environment, random: context.random };
  const { database, faults } = earlyConfig(load);
  if (faults.length > 0) throw new Exit(1, faults.map(formatFault).join('\n'));
  becomeOwnerOf(dataDir);
  const lock = await holdDirectory(dataDir, context.clock);
  try {
    if (options.to === undefined) await undoIn(context, options, { load, database });
    else await moveTo(options.to, context, options, { load, database });
  } finally {
    lock.release();
  }
}

/** Where the installation is, and what is said of its database. */
interface Here {
  readonly load: Omit<LoadOptions, 'stored'>;
  readonly database: Config['database'];
}

async function moveTo(to: string, context: Context, options: MigrateOptions, here: Here): Promise<void> {
  const { load, database } = here;
  if (to === TO_SQLITE && database.url === '')
    throw new Exit(2, 'This installation already uses SQLite: database.url is empty.');
  if (to !== TO_SQLITE && database.url !== '')
    throw new Exit(
      2,
      'This installation already uses PostgreSQL: database.url is set. To move from one PostgreSQL to another, use pg_dump and pg_restore.',
    );
  const openTarget = () =>
    to === TO_SQLITE
      ? openSqliteTarget(placesIn(load), context.clock)
      : openPostgres({ load, database: databaseAt(to, load) }, context);
  await withSide(openSource(here, context), async (source) => {
    await withSide(openTarget(), async (there) => {
      const { tell } = stepTeller(context, options, migrationStepText);
      const { random } = context;
      const migrated = await migrate({ source, target: there, policyOf: policyOf(load), random, tell });
      print(context, options, migrated, () => migratedText(migrated, there.kind, load.dataDir));
      if (migrated.differing > 0) throw new Exit(1);
      if (migrated.lostContents > 0)
        throw new Exit(
          1,
          `The contents of ${counted(migrated.lostContents, 'message')} were already damaged or missing in ${migrated.from}; everything else was moved.`,
        );
    });
  });
}

async function undoIn(context: Context, options: MigrateOptions, here: Here): Promise<void> {
  await withSide(openSource(here, context), async (source) => {
    const to = await undo(source);
    print(context, options, { from: source.name, to }, () =>
      to === null
        ? `${source.name} was not moved: nothing to undo.`
        : `${source.name} can be used again. Mail accepted by ${to} since then is only there.`,
    );
  });
}

/** The settings of a database, of which only the address is another. */
function databaseAt(url: string, load: Here['load']): Config['database'] {
  const environment = { ...load.environment, WAYBILL_DATABASE__URL: url };
  const { database, faults } = earlyConfig({ ...load, environment });
  if (faults.length > 0 || database.url === '')
    throw new Exit(2, '--to takes postgres://user@host:5432/database, or sqlite.');
  return database;
}

function openSource(here: Here, context: Context): Promise<Side> {
  return here.database.url === ''
    ? openSqliteSource(placesIn(here.load), context.clock)
    : openPostgres(here, context);
}

async function openPostgres({ load, database }: Here, { clock, random }: Context): Promise<Side> {
  const node = `migrate-${process.pid}-${Buffer.from(random.fill(new Uint8Array(4))).toString('hex')}`;
  const { vault, faults } = loadConfig({ ...load, stored: NOTHING_STORED });
  if (vault === null) throw new Exit(1, faults.map(formatFault).join('\n'));
  const keys = contentKeysFor(load);
  return await openPostgresSide({
    options: databaseOptions(database),
    node,
    clock,
    keyId: vault.keyId,
    keys,
  });
}

function placesIn(load: Here['load']) {
  const { database, spool } = layoutOf(load.dataDir);
  return { name: load.dataDir, database, spool, keys: contentKeysFor(load) };
}

async function withSide(opening: Promise<Side>, use: (side: Side) => Promise<void>): Promise<void> {
  const side = await opening;
  try {
    await use(side);
  } finally {
    await side.close();
  }
}

/** What the settings say that are kept at the source, as when its server starts. */
function policyOf(load: Here['load']): TakeBack['policyOf'] {
  return async (registry) => {
    const loaded = loadConfig({ ...load, stored: await storedRows(registry) });
    return engineSettings({ ...loaded, routesVersion: UNPUBLISHED }).retry;
  };
}

/** What `--to` says for SQLite in the data directory. */
const TO_SQLITE = 'sqlite';

/** Tables that take their time. */
const NAMED: ReadonlySet<string> = new Set(['messages', 'deliveries', 'attempts']);

/** What a person is told of a step of a migration. */
export function migrationStepText({ phase, table, doneRows, totalRows }: MigrationStep): StepText {
  const title = `${phase === 'copy' ? 'Copying' : 'Comparing'} ${NAMED.has(table) ? table : 'everything else'}`;
  const share = `${percentOf(doneRows, totalRows)} % of ${totalRows}`;
  return { title, share: NAMED.has(table) ? share : '' };
}

/** What a migration did, and what to do next. */
export function migratedText(migrated: Migrated, kind: Side['kind'], dataDir: string): string {
  const { from, to, tables, contentBytes, differences, differing } = migrated;
  const rows = tables.reduce((sum, table) => sum + table.rows, 0);
  if (differing > 0)
    return [
      `The data in ${to} differs from ${from}:`,
      ...differences.map((line) => `  ${line}`),
      ...(differing > MAX_NAMED ? [`  and ${differing - MAX_NAMED} more`] : []),
      `Nothing was changed in ${from}: waybill migrate --undo lets you use it again. Remove the data in ${to} before you start again.`,
    ].join('\n');
  const statuses = Object.entries(migrated.statuses).map(([status, count]) => `${count} ${status}`);
  const messages = tables.find(({ table }) => table === 'messages')?.rows ?? 0;
  return [
    `${counted(messages, 'message')}${statuses.length === 0 ? '' : ` (${statuses.join(', ')})`} with contents of ${bytesText(contentBytes)}, ${counted(rows, 'row')} in all, were moved from ${from} to ${to} and compared equal.`,
    kind === 'postgres' ? TO_POSTGRES : toSqlite(dataDir),
    `${from} is left as it is, and locked against use by mistake: waybill migrate --undo unlocks it.`,
  ].join('\n');
}

const TO_POSTGRES = `Next:
  1. Set database.url, and database.schema if it is not the default, on every node.
  2. Copy secret.key to the data directory of every node: only it decrypts the relay passwords, signing keys and encrypted mail.
  3. Start: waybill serve`;

function toSqlite(dataDir: string): string {
  return `Next:
  1. Remove database.url; secret.key stays in ${dataDir}.
  2. Start: waybill serve`;
}
