import { z } from 'zod';
import { DISPOSITIONS } from '../domain/dmarc-report.ts';
import { integer, text } from './command.ts';
import { acts, type OperationsOf, operation, READ, type Shown } from './operation.ts';

/** DMARC aggregate reports: who sends mail in the name of our domains, and what of it passes. */

/** Bytes of a file that is handed in. */
export const MAX_DMARC_FILE = 4 * 1024 * 1024;

const domain = z.string().max(255).nullable().default(null).describe('Only of this domain; null: of all.');
const days = z
  .int()
  .min(1)
  .max(365)
  .default(30)
  .describe('How many days (UTC) back from now, today included.');
const NONE = { absent: null };

const policy = () =>
  z.strictObject({
    p: z.enum(DISPOSITIONS),
    /** For subdomains; null where the record says nothing of them. */
    sp: z.enum(DISPOSITIONS).nullable(),
    /** Percentage of mail that the policy is applied to. */
    pct: z.number(),
  });

/** Messages, one number a day, the oldest first. */
const counts = () => z.array(z.number());

const reportedDomain = () =>
  z.strictObject({
    domain: z.string(),
    /** As the newest report has it. */
    policy: policy(),
    messages: counts(),
    /** Of the messages: by DKIM or SPF, and aligned. */
    passed: counts(),
  });

const source = () =>
  z.strictObject({
    /** An IP address; empty for the sum of many, in reports that were too long. */
    source: z.string(),
    messages: z.number(),
    passed: z.number(),
    dkim: z.number(),
    spf: z.number(),
    quarantined: z.number(),
    rejected: z.number(),
    /** A domain that signed its mail, and one of its reverse-paths; empty where none is told. */
    dkimDomain: z.string(),
    spfDomain: z.string(),
  });

/** What reports say of the mail from one address. */
export type DmarcSourceView = Shown<typeof source>;

const summary = () =>
  z.strictObject({
    /** Start of the first day (UTC), RFC 3339. */
    from: z.string(),
    days: z.number(),
    /** Every domain with a report in these days, by name, whichever was asked for. */
    domains: z.array(reportedDomain()),
    /** Of the domain that was asked for, or of all: the most mail first. */
    sources: z.array(source()),
    /** Addresses that are not among the sources. */
    moreSources: z.number(),
    /** Where mail servers send reports to; null as long as no bounce domain is set. */
    address: z.string().nullable(),
  });

/** Who sends in the name of our domains. */
export type DmarcSummary = Shown<typeof summary>;

const reportedRow = () =>
  z.strictObject({
    reporter: z.string(),
    messages: z.number(),
    disposition: z.enum(DISPOSITIONS),
    /** Passed, and is aligned. */
    dkim: z.boolean(),
    spf: z.boolean(),
    headerFrom: z.string(),
    spfDomain: z.string(),
    dkimDomain: z.string(),
    selector: z.string(),
  });

const report = () =>
  z.strictObject({
    id: z.string(),
    reporter: z.string(),
    contact: z.string(),
    reportId: z.string(),
    domain: z.string(),
    beginAt: z.string(),
    endAt: z.string(),
    policy: policy(),
    receivedAt: z.string(),
    via: z.enum(['mail', 'upload']),
    messages: z.number(),
    passed: z.number(),
  });

const reportsPage = () =>
  z.strictObject({
    reports: z.array(report()),
    /** `before` of the next page; null when there is none. */
    next: z.string().nullable(),
  });

/** A page of reports. */
export type DmarcReportsPage = Shown<typeof reportsPage>;

const taken = () =>
  z.strictObject({
    /** False: it was there already. */
    added: z.boolean(),
    domain: z.string(),
    reporter: z.string(),
    reportId: z.string(),
    messages: z.number(),
  });

/** A report that was handed in. */
export type TakenDmarcReport = Shown<typeof taken>;

/** What can be asked of DMARC reports. */
export const DMARC_OPERATIONS = {
  dmarc: operation({
    meaning:
      'Who sends mail in the name of our domains, and what of it passes DMARC, by the aggregate reports of receivers.',
    access: READ,
    request: z.strictObject({ domain, days }),
    result: summary,
    commands: [
      {
        words: 'dmarc show',
        summary: 'show who sends mail in the name of your domains, and what of it passes',
        examples: ['waybill dmarc show', 'waybill dmarc show example.com --days 7'],
        takes: {
          domain: text('[domain]', 'only mail of this domain', NONE),
          days: integer('--days <n>', 'how many days back', [1, 365], { absent: 30 }),
        },
      },
    ],
  }),
  dmarcSource: operation({
    meaning: 'What each receiver says of the mail from one address.',
    access: READ,
    request: z.strictObject({
      source: z.string().max(45).describe('An address as `dmarc` shows it; empty for the sum of many.'),
      domain,
      days,
    }),
    result: () => z.strictObject({ rows: z.array(reportedRow()), more: z.boolean() }),
    commands: [
      {
        words: 'dmarc source',
        summary: 'show what receivers say of the mail from one address',
        examples: ['waybill dmarc source 192.0.2.1', 'waybill dmarc source 2001:db8::1 --domain example.com'],
        takes: {
          source: text('<address>', 'an IP address'),
          domain: text('--domain <domain>', 'only mail of this domain', NONE),
          days: integer('--days <n>', 'how many days back', [1, 365], { absent: 30 }),
        },
      },
    ],
  }),
  dmarcReports: operation({
    meaning: 'DMARC aggregate reports that came in, the newest first. Kept for `retention.reports_days`.',
    access: READ,
    request: z.strictObject({
      domain,
      limit: z.int().min(1).max(200).default(50),
      before: z.string().max(64).nullable().default(null).describe('The `next` of the page before.'),
    }),
    result: reportsPage,
    commands: [
      {
        words: 'dmarc reports',
        summary: 'show the reports that came in, the newest first',
        examples: ['waybill dmarc reports', 'waybill dmarc reports --domain example.com --json'],
        takes: {
          domain: text('--domain <domain>', 'only reports about this domain', NONE),
          limit: integer('--limit <n>', 'how many', [1, 200], { absent: 50 }),
          before: text('--before <id>', 'continue after a page: the next in its --json', NONE),
        },
      },
    ],
  }),
  addDmarcReport: operation({
    meaning:
      'Takes in a DMARC aggregate report: XML, gzip or zip, or a message that has one attached. A repeat is harmless.',
    access: acts({
      words: 'Handed in a DMARC report',
      subject: null,
      hide: ['content'],
      touches: ['reports'],
    }),
    takesMessage: true,
    request: z.strictObject({
      content: z
        .base64()
        .max(Math.ceil(MAX_DMARC_FILE / 3) * 4)
        .describe('The file, base64.'),
    }),
    result: taken,
    commands: [
      {
        words: 'dmarc import',
        summary: 'take in a report: XML, gzip or zip, or a message that has one attached',
        examples: ["waybill dmarc import 'google.com!example.com!1763596800!1763683199.zip'"],
        takes: { content: text('<file>', 'a file of at most 4 MiB') },
        prints: ({ added, domain: about, reporter, messages }) =>
          `${added ? 'Taken in' : 'Was there already'}: ${reporter} about ${about}, ${messages} messages.`,
      },
    ],
  }),
};

/** Those who carry them out. */
export type DmarcOperations = OperationsOf<typeof DMARC_OPERATIONS>;
