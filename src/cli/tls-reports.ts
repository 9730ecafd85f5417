import type { Command } from 'commander';
import type { TableForm } from '../operations/command.ts';
import type { TlsReportsPage } from '../operations/tls-reports.ts';
import type { Context } from './context.ts';
import { groupCommand, tableText } from './operation-command.ts';

// A file of its own, as each group of commands has one.

/** `waybill tls-reports …`: what receivers are told of the TLS of their servers. */
export function tlsReportsCommand(context: Context): Command {
  return groupCommand(context, {
    name: 'tls-reports',
    title: 'what domains are told of the TLS of their mail servers',
    order: ['list', 'show'],
    texts: { tlsReports: (page, { columns }) => pageText(page, columns) },
  });
}

const DAYS: TableForm<TlsReportsPage['days'][number]> = {
  columns: {
    DATE: ({ date }) => date,
    DOMAIN: ({ domain }) => domain,
    SESSIONS: ({ sessions }) => String(sessions),
    FAILED: ({ failed }) => String(failed),
    REPORT: ({ state }) => state,
    TO: ({ targets }) => targets.map(({ uri }) => uri).join(' ') || '-',
    NEXT: ({ nextAt }) => nextAt ?? '-',
  },
  empty: 'No session has been counted.',
  fits: true,
};

function pageText({ days, isOn }: TlsReportsPage, columns: number | null): string {
  const off = isOn
    ? ''
    : '\n\nNothing is counted or sent: tls_reports.from is not set (docs/tls-reports.md).';
  return `${tableText(DAYS, days, columns)}${off}`;
}
