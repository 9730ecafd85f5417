import type { ResultOf } from '../../../../src/operations/table.ts';
import { formatCount, formatRate } from '../../format.ts';
import type { Tone } from '../../parts/badge.tsx';

/** What DMARC reports come to, for the page. */

type Summary = ResultOf<'dmarc'>;
/** A domain of which there are reports. */
export type ReportedDomain = Summary['domains'][number];

/** Messages of all days, and those that passed. */
export interface Totals {
  readonly messages: number;
  readonly passed: number;
}

/** Sums over domains. */
export function totalsOf(domains: readonly ReportedDomain[]): Totals {
  return {
    messages: sum(domains.flatMap(({ messages }) => messages)),
    passed: sum(domains.flatMap(({ passed }) => passed)),
  };
}

/** Of each day over all domains, the share that failed; null for a day without mail. */
export function failedByDay(domains: readonly ReportedDomain[], days: number) {
  return Array.from({ length: days }, (_, day) => {
    const messages = sum(domains.map((domain) => domain.messages[day] ?? 0));
    const failed = messages - sum(domains.map((domain) => domain.passed[day] ?? 0));
    const rate = messages === 0 ? null : failed / messages;
    const said =
      rate === null
        ? 'no mail in reports'
        : `${formatRate(rate)}: ${formatCount(failed)} of ${formatCount(messages)} failed`;
    return { rate, said };
  });
}

/** From here on, it is likely that mail of one's own fails. */
const MOSTLY = 0.98;

/** How good a share of passed mail is. */
export function passTone({ messages, passed }: Totals): Tone {
  if (messages === 0) return 'neutral';
  if (passed === messages) return 'good';
  return passed / messages >= MOSTLY ? 'warn' : 'bad';
}

/** A policy as one says it: `quarantine`, `reject for 50 %`. */
export function policyWords({ p, pct }: ReportedDomain['policy']): string {
  return pct === 100 || p === 'none' ? p : `${p} for ${pct} %`;
}

/** What a policy does with mail that fails. */
export function policyMeaning({ p }: ReportedDomain['policy']): string {
  if (p === 'reject') return 'mail that fails is refused';
  return p === 'quarantine' ? 'mail that fails is put into spam' : 'mail that fails is delivered as before';
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, one) => total + one, 0);
}
