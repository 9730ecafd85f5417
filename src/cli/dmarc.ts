import { readFile, stat } from 'node:fs/promises';
import type { Command } from 'commander';
import { readError } from '../lib/error.ts';
import type { TableForm } from '../operations/command.ts';
import {
  type DmarcReportsPage,
  type DmarcSourceView,
  type DmarcSummary,
  MAX_DMARC_FILE,
} from '../operations/dmarc.ts';
import type { ResultOf } from '../operations/table.ts';
import type { Context } from './context.ts';
import { groupCommand, tableText } from './operation-command.ts';
import { Exit } from './terminal.ts';

/** `waybill dmarc …`: who sends in the name of our domains. */
export function dmarcCommand(context: Context): Command {
  return groupCommand(context, {
    name: 'dmarc',
    title: 'who sends mail in the name of your domains',
    order: ['show', 'source', 'reports', 'import'],
    texts: {
      dmarc: (summary, { columns }) => summaryText(summary, columns),
      dmarcSource: ({ rows, more }, { columns }) =>
        `${tableText(ROWS, rows, columns)}${more ? '\n\nand more, with less mail' : ''}`,
      dmarcReports: ({ reports }, { columns }) => tableText(REPORTS, reports, columns),
    },
    files: { content: readReport },
  });
}

async function readReport(file: string): Promise<string> {
  try {
    if ((await stat(file)).size > MAX_DMARC_FILE)
      throw new Exit(2, `${file} is larger than ${MAX_DMARC_FILE} bytes.`);
    return (await readFile(file)).toString('base64');
  } catch (error) {
    if (error instanceof Exit) throw error;
    throw new Exit(1, `${file} cannot be read: ${readError(error)}`);
  }
}

const DOMAINS: TableForm<DmarcSummary['domains'][number]> = {
  columns: {
    DOMAIN: ({ domain }) => domain,
    POLICY: ({ policy: { p, pct } }) => (pct === 100 ? p : `${p} (${pct} %)`),
    MESSAGES: ({ messages }) => String(sum(messages)),
    PASSED: ({ messages, passed }) => share(sum(passed), sum(messages)),
  },
  empty: 'There are no reports of these days.',
  fits: true,
};

const SOURCES: TableForm<DmarcSourceView> = {
  columns: {
    SOURCE: ({ source }) => source || '(many)',
    MESSAGES: ({ messages }) => String(messages),
    PASSED: ({ passed, messages }) => share(passed, messages),
    DKIM: ({ dkim, messages }) => share(dkim, messages),
    SPF: ({ spf, messages }) => share(spf, messages),
    STOPPED: ({ quarantined, rejected }) => String(quarantined + rejected),
    'SIGNED BY': ({ dkimDomain }) => dkimDomain || '-',
    'SENT AS': ({ spfDomain }) => spfDomain || '-',
  },
  empty: 'Nobody has sent.',
  fits: true,
};

const ROWS: TableForm<ResultOf<'dmarcSource'>['rows'][number]> = {
  columns: {
    REPORTER: ({ reporter }) => reporter,
    MESSAGES: ({ messages }) => String(messages),
    FROM: ({ headerFrom }) => headerFrom || '-',
    DKIM: ({ dkim, dkimDomain, selector }) => `${dkim ? 'pass' : 'fail'} ${dkimDomain} ${selector}`.trim(),
    SPF: ({ spf, spfDomain }) => `${spf ? 'pass' : 'fail'} ${spfDomain}`.trim(),
    DISPOSITION: ({ disposition }) => disposition,
  },
  empty: 'No report names this address.',
  fits: true,
};

const REPORTS: TableForm<DmarcReportsPage['reports'][number]> = {
  columns: {
    RECEIVED: ({ receivedAt }) => receivedAt,
    REPORTER: ({ reporter }) => reporter,
    DOMAIN: ({ domain }) => domain,
    BEGIN: ({ beginAt }) => beginAt,
    MESSAGES: ({ messages }) => String(messages),
    PASSED: ({ messages, passed }) => share(passed, messages),
    ID: ({ id }) => id,
  },
  empty: 'There are no reports.',
  fits: true,
};

function summaryText(
  { domains, sources, moreSources, address }: DmarcSummary,
  columns: number | null,
): string {
  if (domains.length === 0) {
    const how = address === null ? 'set bounces.domain first' : `let them be sent to ${address}`;
    return `${DOMAINS.empty} To get reports, ${how}: docs/dmarc.md.`;
  }
  const more = moreSources > 0 ? `\n\nand ${moreSources} more addresses, with less mail` : '';
  return `${tableText(DOMAINS, domains, columns)}\n\n${tableText(SOURCES, sources, columns)}${more}`;
}

function share(part: number, all: number): string {
  return all === 0 ? '-' : `${((100 * part) / all).toFixed(1)} %`;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, one) => total + one, 0);
}
