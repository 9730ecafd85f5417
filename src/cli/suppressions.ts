import { type FileHandle, open, readFile, rm, stat } from 'node:fs/promises';
import { type Command, Option } from 'commander';
import { SUPPRESSION_REASONS, type SuppressionReason } from '../domain/suppression.ts';
import { readError } from '../lib/error.ts';
import type { TableForm } from '../operations/command.ts';
import {
  IMPORT_FORMATS,
  MAX_IMPORT_BYTES,
  type SuppressionCheck,
  type SuppressionImport,
  type SuppressionsPage,
  type SuppressionView,
} from '../operations/suppressions.ts';
import type { RequestOf, StepOf } from '../operations/table.ts';
import { type CommonOptions, type Context, command, print } from './context.ts';
import { groupCommand, tableText } from './operation-command.ts';
import { withOperations } from './session.ts';
import { percentOf, stepTeller } from './step-teller.ts';
import { Exit, readInput } from './terminal.ts';

interface ImportOptions extends CommonOptions {
  readonly reason?: SuppressionReason;
  readonly format?: (typeof IMPORT_FORMATS)[number];
  readonly scope?: string;
  readonly stream?: string;
}

const STANDARD = '-';
/** Rows that are shown of those that were not imported. */
const MAX_SHOWN = 20;
/** An export is for those who made it. */
const FILE_MODE = 0o600;

/** `waybill suppressions …`: the addresses that get no mail. */
export function suppressionsCommand(context: Context): Command {
  return groupCommand(context, {
    name: 'suppressions',
    title: 'addresses that get no mail',
    order: ['list', 'add', 'remove', importCommand(context), exportCommand(context), 'check'],
    calls: { listSuppressions: (request, call) => listed(request, call) },
    texts: {
      listSuppressions: (page, { columns }) => pageText(page, columns),
      checkSuppressions: (check, { columns }) => checkText(check, columns),
    },
  });
}

/** Pages that are looked through for what few entries have; each looks at 2,000. */
const MAX_PAGES = 100;

/** A page that is as long as asked for, however many entries lie between those that match. */
async function listed(
  request: RequestOf<'listSuppressions'>,
  call: (request: RequestOf<'listSuppressions'>) => Promise<SuppressionsPage>,
): Promise<SuppressionsPage> {
  let page = await call(request);
  for (let pages = 1; pages < MAX_PAGES; pages++) {
    const { suppressions, nextCursor: cursor } = page;
    const limit = request.limit - suppressions.length;
    if (cursor === undefined || limit <= 0) break;
    const next = await call({ ...request, limit, cursor });
    page = { ...next, suppressions: [...suppressions, ...next.suppressions] };
  }
  return page;
}

/** Entries under each other. */
const ENTRIES: TableForm<SuppressionView> = {
  columns: {
    ADDRESS: ({ address }) => address,
    SCOPE: ({ scope }) => scope,
    STREAM: ({ stream }) => stream ?? 'all',
    REASON: ({ reason }) => reason,
    SOURCE: ({ source }) => source,
    SINCE: ({ createdAt }) => createdAt,
    ENDS: ({ expiresAt }) => expiresAt ?? 'never',
    ID: ({ id }) => id,
  },
  empty: 'There are no such entries.',
  fits: true,
};

function pageText({ suppressions, nextCursor }: SuppressionsPage, columns: number | null): string {
  if (nextCursor === undefined) return tableText(ENTRIES, suppressions, columns);
  const more = `There are, or may be, more: --cursor ${nextCursor}`;
  return suppressions.length === 0 ? more : `${tableText(ENTRIES, suppressions, columns)}\n\n${more}`;
}

const CHECKED: TableForm<SuppressionCheck['results'][number]> = {
  columns: {
    ADDRESS: ({ address }) => address,
    MAIL: ({ suppressed }) => (suppressed ? 'is not sent' : 'is sent'),
    REASON: ({ suppression }) => suppression?.reason ?? '',
    ENTRY: ({ suppression }) => suppression?.address ?? '',
    SCOPE: ({ suppression }) => suppression?.scope ?? '',
    ID: ({ suppression }) => suppression?.id ?? '',
  },
  empty: '',
  fits: true,
};

function checkText({ results }: SuppressionCheck, columns: number | null): string {
  return tableText(CHECKED, results, columns);
}

function importCommand(context: Context): Command {
  return command('import', 'add the addresses of a table: CSV with a header line, or JSON', [
    'waybill suppressions import bounces.csv',
    'waybill suppressions import --scope domain:example.com --reason unsubscribe unsubscribed.csv',
    'aws sesv2 list-suppressed-destinations | waybill suppressions import --format json -',
  ])
    .argument('<file>', '- reads standard input')
    .addOption(
      new Option('--format <format>', 'csv, or json (default: by the name of the file)').choices(
        IMPORT_FORMATS,
      ),
    )
    .option('--scope <scope>', 'of rows without one: global, domain:example.com, or key:NAME')
    .option('--stream <stream>', 'of rows without one: stop only this stream')
    .addOption(
      new Option('--reason <reason>', 'of rows that say none which is known (default: import)').choices(
        SUPPRESSION_REASONS,
      ),
    )
    .addHelpText(
      'after',
      '\nColumns are those of an export, or those that providers give: docs/suppressions.md. A repeat is harmless.',
    )
    .action(async (file: string, options: ImportOptions) => {
      const text = await readTable(file, context);
      const { scope = null, stream = null, reason = 'import' } = options;
      const { format = /\.jsonl?$/.test(file) ? 'json' : 'csv' } = options;
      await withOperations(context, options, {}, async (operations) => {
        const progress = stepTeller<StepOf<'importSuppressions'>>(context, options, importStepText);
        const done = await operations.importSuppressions({ format, text, scope, stream, reason }, progress);
        print(context, options, done, () => importText(done));
        if (done.invalid.length > 0) throw new Exit(1);
      });
    });
}

function importStepText({ done, total }: StepOf<'importSuppressions'>) {
  return { title: 'Importing', share: `${percentOf(done, total)} % of ${total} rows` };
}

function importText({ added, updated, invalid, moreInvalid }: SuppressionImport): string {
  const left = invalid.length - MAX_SHOWN + moreInvalid;
  return [
    `Added: ${added}. Renewed: ${updated}. Not imported: ${invalid.length + moreInvalid}.`,
    ...invalid.slice(0, MAX_SHOWN).map(({ line, detail }) => `line ${line}: ${detail}`),
    ...(left > 0 ? [`… and ${left} more`] : []),
  ].join('\n');
}

async function readTable(file: string, { terminal }: Context): Promise<string> {
  const bytes = file === STANDARD ? await readInput(terminal, MAX_IMPORT_BYTES) : await readBounded(file);
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new Exit(2, `${file === STANDARD ? 'Standard input' : file} is not UTF-8.`);
  }
}

async function readBounded(file: string): Promise<Buffer> {
  try {
    const { size } = await stat(file);
    if (size <= MAX_IMPORT_BYTES) return await readFile(file);
  } catch (error) {
    throw new Exit(1, `${file} cannot be read: ${readError(error)}`);
  }
  throw new Exit(2, `${file} is larger than ${MAX_IMPORT_BYTES} bytes; divide it.`);
}

function exportCommand(context: Context): Command {
  return command('export', 'write the whole list as CSV, which can be imported again', [
    'waybill suppressions export suppressions.csv',
    'waybill suppressions export - | wc -l',
  ])
    .argument('<file>', 'a new file; - writes to standard output')
    .action(async (file: string, options: CommonOptions) => {
      await withOperations(context, options, {}, async (operations) => {
        const target = file === STANDARD ? null : await create(file);
        let entries = 0;
        let isWhole = false;
        try {
          const progress = stepTeller<number>(context, options, exportStepText);
          for (let cursor: string | null = null; ; ) {
            const page: Awaited<ReturnType<typeof operations.exportSuppressions>> =
              await operations.exportSuppressions({ cursor });
            const bytes = Buffer.from(page.text);
            if (target === null) await context.terminal.write(bytes);
            else await target.writeFile(bytes);
            entries += page.entries;
            progress.tell(entries);
            cursor = page.next;
            if (cursor === null) break;
          }
          await target?.sync();
          isWhole = true;
        } finally {
          await target?.close();
          // The next run refuses a file that is there, and half a list is none.
          if (target !== null && !isWhole) await rm(file, { force: true });
        }
        if (target !== null)
          print(context, options, { file, entries }, () => `Entries in ${file}: ${entries}.`);
      });
    });
}

function exportStepText(entries: number) {
  return { title: 'Exporting', share: `${entries} entries` };
}

/** Never over a file that is there. */
async function create(file: string): Promise<FileHandle> {
  try {
    return await open(file, 'wx', FILE_MODE);
  } catch (error) {
    throw new Exit(1, `${file} cannot be written: ${readError(error)}`);
  }
}
