import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { Resolver } from '../dns/resolver.ts';
import { ownSubmission } from '../domain/message.ts';
import type { TlsReport, TlsReportTarget } from '../domain/tls-report.ts';
import type { Intake } from '../engine/contract.ts';
import { type Clock, within } from '../lib/clock.ts';
import { Few } from '../lib/few.ts';
import type { Log } from '../lib/log.ts';
import { composeTlsReport } from '../mail/tls-report.ts';
import type { TlsReports } from '../store/tls-reports.ts';
import {
  mailAddressIn,
  type TlsReportHead,
  tlsReportFile,
  tlsReportJson,
  tlsReportTargets,
} from './tls-rpt.ts';

/** Sends the reports on each day's sessions to whom a domain wants told of them (RFC 8460). */

/** What sending needs. */
export interface TlsReporterDeps {
  readonly store: TlsReports;
  readonly intake: Pick<Intake, 'accept' | 'newId'>;
  readonly resolver: Resolver;
  /** Posts a report to an `https:` URI of a stranger's. Never rejects. */
  readonly post: PostTlsReport;
  readonly clock: Clock;
  readonly log: Log;
  /** As configured now; null: none are sent. */
  readonly terms: () => TlsReportTerms | null;
}

/** Who reports. */
export interface TlsReportTerms {
  /** The address that reports come from, whose domain signs them. */
  readonly from: string;
  readonly organization: string;
  /** This server's name. */
  readonly hostname: string;
  /** A key signs mail from `from`: receivers ignore other reports that come by mail (RFC 8460 §3). */
  readonly isSigned: boolean;
}

/** Posts bytes; null if they were taken, otherwise why not. */
export type PostTlsReport = (uri: string, gzip: Uint8Array, signal: AbortSignal) => Promise<string | null>;

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;
/** Reports of a day go out over this time, so that receivers do not get all of them at once (RFC 8460 §4.1). */
const SPREAD_MS = 4 * HOUR_MS;
/** A report is given up this long after its day. */
const GIVE_UP_MS = 2 * DAY_MS;
/** The pause after the first try that came to nothing; it doubles. */
const RETRY_MS = 600_000;
/** How many days a report may be under way, and how many are remembered. */
const REMEMBERED_DAYS = 5;
const MAX_MESSAGES = 20_000;
/** Domains worked on in one round. */
const BATCH = 50;
/** Domains worked on at once: servers of one that are silent hold up no others. */
const TOGETHER = 8;
/** How long one domain may take: its servers may be silent. */
const DOMAIN_MS = 60_000;

const zipped = promisify(gzip);

/** The work of one node on the reports of all. */
export class TlsReporter {
  readonly #deps: TlsReporterDeps;
  readonly #few = new Few(TOGETHER);
  /** The messages that carry reports, as far as they may still be under way. */
  readonly #messages = new Set<string>();

  constructor(deps: TlsReporterDeps) {
    this.#deps = deps;
  }

  /** Whether a message carries a report. */
  readonly isReport = (messageId: string): boolean => this.#messages.has(messageId);

  /** Learns of the messages of other nodes, and of a process before this one. Rejects with `StoreError`. */
  async look(): Promise<void> {
    const { store, clock, terms } = this.#deps;
    if (terms() === null) return;
    const since = Math.floor(clock.wall() / DAY_MS) - REMEMBERED_DAYS;
    const found = await store.tlsReportMessages(since, MAX_MESSAGES);
    if (this.#messages.size > MAX_MESSAGES) this.#messages.clear();
    for (const id of found) this.#messages.add(id);
  }

  /** Plans what has come to be reported, and sends what is due. Rejects with `StoreError`. */
  async round(signal: AbortSignal): Promise<void> {
    const { store, clock } = this.#deps;
    const terms = this.#deps.terms();
    if (terms === null) return;
    const now = clock.wall();
    for (const { day, domain } of await store.unreportedTlsDays(Math.floor(now / DAY_MS), BATCH)) {
      const reportId = `${dateOf(day)}-${domain}-${tagOf(`${day} ${domain} ${now}`)}@${terms.hostname}`;
      const nextAt = (day + 1) * DAY_MS + delayOf(domain);
      const report = { day, domain, reportId, state: 'waiting', targets: [], tries: 0 } as const;
      await store.saveTlsReport({ ...report, nextAt, updatedAt: now });
    }
    const due = await store.dueTlsReports(now, BATCH);
    const tries = due.map((report) =>
      this.#few.run(async () => {
        if (signal.aborted) return;
        const tried = within(clock, DOMAIN_MS, signal, (over) => this.#send(report, terms, over));
        await store.saveTlsReport(await tried);
      }),
    );
    // All of them, so that no try is under way when the next round begins.
    const failed = (await Promise.allSettled(tries)).find(({ status }) => status === 'rejected');
    if (failed?.status === 'rejected') throw failed.reason;
  }

  /** The report after a try. */
  async #send(report: TlsReport, terms: TlsReportTerms, signal: AbortSignal): Promise<TlsReport> {
    const { day, domain } = report;
    const now = this.#deps.clock.wall();
    const settled = (state: TlsReport['state'], met: TlsReport['targets']): TlsReport => {
      const pause = RETRY_MS * 2 ** Math.min(report.tries, 6);
      const targets = state === 'waiting' ? met : met.map(givenUp);
      return { ...report, state, targets, tries: report.tries + 1, nextAt: now + pause, updatedAt: now };
    };
    const isLate = now > (day + 1) * DAY_MS + GIVE_UP_MS;
    const answer = await this.#deps.resolver.resolve(`_smtp._tls.${domain}`, 'TXT', signal);
    if (answer.kind === 'failed') return settled(isLate ? 'failed' : 'waiting', report.targets);
    const uris = answer.kind === 'found' ? tlsReportTargets(answer.records) : null;
    if (uris === null) return settled('unwanted', []);
    const head = { ...terms, contact: terms.from, reportId: report.reportId, domain, day };
    const json = tlsReportJson(head, await this.#deps.store.tlsSessions(day, domain));
    const file = await zipped(Buffer.from(`${JSON.stringify(json)}\n`));
    const targets: TlsReportTarget[] = [];
    for (const uri of uris) {
      const known = report.targets.find((target) => target.uri === uri);
      targets.push(known?.state === 'sent' ? known : await this.#sendTo(uri, head, terms, file, signal));
    }
    const waits = targets.some(({ state }) => state === 'waiting');
    const sent = targets.some(({ state }) => state === 'sent');
    const state = waits && !isLate ? 'waiting' : sent ? 'sent' : 'failed';
    this.#deps.log.info('tls_report.tried', { domain, code: state, tries: report.tries + 1 });
    return settled(state, targets);
  }

  async #sendTo(
    uri: string,
    head: TlsReportHead,
    terms: TlsReportTerms,
    file: Buffer,
    signal: AbortSignal,
  ): Promise<TlsReportTarget> {
    const address = mailAddressIn(uri);
    if (address !== null && !terms.isSigned)
      return { uri, state: 'waiting', detail: `nothing signs mail from ${terms.from}`, messageId: null };
    if (address !== null) return await this.#mail(uri, address, head, terms, file);
    const why = await this.#deps.post(uri, file, signal);
    if (why === null) return { uri, state: 'sent', detail: 'taken over HTTPS', messageId: null };
    return { uri, state: 'waiting', detail: why, messageId: null };
  }

  async #mail(
    uri: string,
    to: string,
    head: TlsReportHead,
    { from, hostname }: TlsReportTerms,
    file: Buffer,
  ): Promise<TlsReportTarget> {
    const { intake, clock } = this.#deps;
    const id = intake.newId();
    // Before it is accepted: it may be sent at once.
    this.#messages.add(id);
    const messageId = `<${id.replace('_', '.')}@${hostname}>`;
    const { content, subject } = composeTlsReport({
      from,
      to,
      domain: head.domain,
      submitter: hostname,
      reportId: head.reportId,
      messageId,
      date: clock.wall(),
      fileName: tlsReportFile(head, hostname),
      gzip: file,
    });
    const header = { from, subject, messageId };
    const [answer] = await intake.accept([
      ownSubmission({ id, recipients: [to], notify: null, header, content, priority: 'bulk' }),
    ]);
    if (answer?.kind === 'accepted') return { uri, state: 'sent', detail: '', messageId: answer.id };
    const detail = answer?.kind === 'suspended' ? answer.suspension.detail : 'it was not accepted';
    return { uri, state: 'waiting', detail, messageId: null };
  }
}

/** A destination once no further try is made. */
function givenUp(target: TlsReportTarget): TlsReportTarget {
  return target.state === 'waiting' ? { ...target, state: 'failed' } : target;
}

function dateOf(day: number): string {
  return new Date(day * DAY_MS).toISOString().slice(0, 10);
}

function tagOf(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 12);
}

/** When in the hours after midnight a domain's turn is: every day the same. */
function delayOf(domain: string): number {
  return Number.parseInt(tagOf(domain).slice(0, 8), 16) % SPREAD_MS;
}
