import { z } from 'zod';
import { integer, text } from './command.ts';
import { type OperationsOf, operation, READ, type Shown } from './operation.ts';

/** SMTP TLS reports (RFC 8460): what is counted of sessions with the servers of domains, and what is sent about it. */

const name = z.string().max(255);
const NONE = { absent: null };

const target = () =>
  z.strictObject({
    /** `mailto:` or `https:`, as the domain publishes it. */
    uri: z.string(),
    state: z.enum(['waiting', 'sent', 'failed']),
    detail: z.string(),
    /** The message that carries it; null: none does. */
    messageId: z.string().nullable(),
  });

const day = () =>
  z.strictObject({
    /** In UTC, such as `2026-11-20`. */
    date: z.string(),
    domain: z.string(),
    sessions: z.number(),
    failed: z.number(),
    /** `counting`: the day is not over, or its report not begun; `unwanted`: the domain publishes no address for reports. */
    state: z.enum(['counting', 'waiting', 'sent', 'failed', 'unwanted']),
    targets: z.array(target()),
    /** When it is sent, or tried again; null: it is not. */
    nextAt: z.string().nullable(),
  });

const page = () =>
  z.strictObject({
    days: z.array(day()),
    /** `after` of the next page; null when there is none. */
    next: z.string().nullable(),
    /** Sessions are counted, and reports sent: `tls_reports.from` is set. */
    isOn: z.boolean(),
  });

/** A page of domains' days. */
export type TlsReportsPage = Shown<typeof page>;

/** What can be asked of TLS reports. */
export const TLS_REPORT_OPERATIONS = {
  tlsReports: operation({
    meaning:
      'Sessions with the mail servers of domains by day, and what became of the report on them (RFC 8460), the newest first.',
    access: READ,
    request: z.strictObject({
      domain: name.nullable().default(null).describe('Only of this domain; null: of all.'),
      limit: z.int().min(1).max(200).default(50),
      after: z.string().max(300).nullable().default(null).describe('The `next` of the page before.'),
    }),
    result: page,
    commands: [
      {
        words: 'tls-reports list',
        summary: 'show sessions with the servers of domains by day, and the reports on them',
        examples: ['waybill tls-reports list', 'waybill tls-reports list --domain example.org --json'],
        takes: {
          domain: text('--domain <domain>', 'only of this domain', NONE),
          limit: integer('--limit <n>', 'how many', [1, 200], { absent: 50 }),
          after: text('--after <next>', 'continue after a page: the next in its --json', NONE),
        },
      },
    ],
  }),
  tlsReport: operation({
    meaning: 'The report on one domain and day, as it is sent, or would be.',
    access: READ,
    request: z.strictObject({
      domain: name,
      date: z.iso.date().describe('In UTC, such as `2026-11-20`.'),
    }),
    result: () =>
      z.strictObject({
        /** Null: nothing was counted. */
        report: z.record(z.string(), z.unknown()).nullable(),
      }),
    commands: [
      {
        words: 'tls-reports show',
        summary: 'show the report on one domain and day, as it is sent',
        examples: ['waybill tls-reports show example.org 2026-11-20'],
        takes: {
          domain: text('<domain>', 'a domain that mail was sent to'),
          date: text('<date>', 'a day in UTC, such as 2026-11-20'),
        },
        prints: ({ report }, { request: { domain, date } }) =>
          report === null ? `Nothing was counted of ${domain} on ${date}.` : JSON.stringify(report, null, 2),
        isBad: ({ report }) => report === null,
      },
    ],
  }),
};

/** Those who carry them out. */
export type TlsReportOperations = OperationsOf<typeof TLS_REPORT_OPERATIONS>;
