import { type DmarcReport, type DmarcVerdict, reportedDomain } from '../domain/dmarc-report.ts';
import type { Clock } from '../lib/clock.ts';
import { createIdSource } from '../lib/id.ts';
import { organizationalDomain } from '../lib/organizational-domain.ts';
import type { Random } from '../lib/random.ts';
import type { Events } from '../observe/events.ts';
import type { DmarcReports, DmarcVia } from '../store/dmarc-reports.ts';

/** Takes reports in. */
export interface DmarcDesk {
  /** Keeps a report about a domain of ours, once. Rejects with `StoreError`. */
  take(report: DmarcReport, via: DmarcVia): Promise<TakenAs>;
}

/** What becomes of a report that can be read. */
export type TakenAs = Exclude<DmarcVerdict, 'unreadable'>;

/** What the desk needs. */
export interface DmarcDeskDeps {
  readonly dmarc: Pick<DmarcReports, 'addDmarcReport'>;
  readonly clock: Clock;
  readonly random: Random;
  /** The registered domains. */
  readonly domains: () => readonly string[];
  /** How long reports are kept. */
  readonly days: () => number;
  readonly events: Pick<Events, 'emit'>;
}

const DAY_MS = 86_400_000;

/** The desk, over a store. */
export function createDmarcDesk({ dmarc, clock, random, ...deps }: DmarcDeskDeps): DmarcDesk {
  const nextId = createIdSource(clock, random, 'dmr_');
  const verdictOn = async (report: DmarcReport, via: DmarcVia): Promise<TakenAs> => {
    const now = clock.wall();
    // The record of an organizational domain is also about the domains below it (RFC 7489 §6.6.3).
    const ours = deps.domains().flatMap((name) => [name, organizationalDomain(name)]);
    if (reportedDomain(report.domain, ours) === null) return 'not_ours';
    if (report.beginAt < now - deps.days() * DAY_MS || report.endAt > now + DAY_MS) return 'dated';
    const added = await dmarc.addDmarcReport({ ...report, id: nextId(), receivedAt: now, via });
    return added ? 'added' : 'known';
  };
  return {
    take: async (report, via) => {
      const verdict = await verdictOn(report, via);
      deps.events.emit({ type: 'dmarc_report', domain: report.domain, verdict });
      return verdict;
    },
  };
}
