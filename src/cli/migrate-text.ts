import type { Migrated } from '../migrate/migration.ts';
import type { Side } from '../migrate/side.ts';
import type { MigrationStep } from '../migrate/steps.ts';
import { MAX_NAMED } from '../migrate/verify.ts';
import { bytesText } from './bytes-text.ts';
import { percentOf, type StepText } from './step-teller.ts';
import { counted } from './terminal.ts';

/** What `--to` says for SQLite in the data directory. */
export const TO_SQLITE = 'sqlite';

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
      `What lies in ${to} differs from ${from}:`,
      ...differences.map((line) => `  ${line}`),
      ...(differing > MAX_NAMED ? [`  and ${differing - MAX_NAMED} more`] : []),
      `Nothing was changed in ${from}: waybill migrate --undo lets it be worked with again. Remove what lies in ${to} before you begin anew.`,
    ].join('\n');
  const statuses = Object.entries(migrated.statuses).map(([status, count]) => `${count} ${status}`);
  const messages = tables.find(({ table }) => table === 'messages')?.rows ?? 0;
  return [
    `${counted(messages, 'message')}${statuses.length === 0 ? '' : ` (${statuses.join(', ')})`} with contents of ${bytesText(contentBytes)}, ${counted(rows, 'row')} in all, went from ${from} to ${to}, and were found equal there.`,
    kind === 'postgres' ? TO_POSTGRES : toSqlite(dataDir),
    `${from} is left as it is. Nobody can work with it by mistake: waybill migrate --undo ends that.`,
  ].join('\n');
}

const TO_POSTGRES = `Next:
  1. Set database.url, and database.schema if it is not the usual one, on every node.
  2. Copy secret.key to the data directory of every node: passwords of relays and signing keys open only with it.
  3. Start: waybill serve`;

function toSqlite(dataDir: string): string {
  return `Next:
  1. Take database.url away; secret.key stays in ${dataDir}.
  2. Start: waybill serve`;
}
