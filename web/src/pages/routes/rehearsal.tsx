import { Link } from '@tanstack/react-router';
import { ArrowRight } from 'lucide-react';
import type { ResultOf } from '../../../../src/operations/table.ts';
import { formatCount, plural } from '../../format.ts';
import { Badge } from '../../parts/badge.tsx';
import { Banner } from '../../parts/banner.tsx';

type Rehearsal = ResultOf<'rehearseRoutes'>;

/** What a changed table would do with the mail stored last. */
export function RehearsalResult({ rehearsal }: { readonly rehearsal: Rehearsal }) {
  const { messages, recipients, unchanged, otherFallback, moves, blindRules } = rehearsal;
  const moving = moves.reduce((sum, move) => sum + move.recipients, 0);
  if (messages === 0)
    return (
      <p className="text-soft">
        There is no mail yet to rehearse with. What is published holds for what comes.
      </p>
    );
  return (
    <div className="space-y-3">
      <p>
        Of the last {plural(messages, 'message')} with {plural(recipients, 'recipient')},{' '}
        <strong className="font-semibold">
          {moving === 0 ? 'none would go elsewhere' : `${formatCount(moving)} would go elsewhere`}
        </strong>
        {otherFallback > 0 && `, and ${formatCount(otherFallback)} would have another relay to fall back on`}.
        {moving > 0 && ` ${formatCount(unchanged)} would go as they did.`}
      </p>
      {moves.length > 0 && (
        <ul className="divide-y divide-line rounded-md border border-line">
          {moves.map(({ from, to, recipients: count, examples }) => (
            <li key={`${from} ${to}`} className="px-3 py-2.5">
              <div className="flex flex-wrap items-center gap-2">
                <Badge>
                  <span className="font-mono">{from}</span>
                </Badge>
                <ArrowRight aria-label="to" size={14} className="text-soft" />
                <Badge tone="accent">
                  <span className="font-mono">{to}</span>
                </Badge>
                <span className="ml-auto text-sm">{plural(count, 'recipient')}</span>
              </div>
              <ul className="mt-1.5 space-y-0.5 text-sm text-soft">
                {examples.map(({ id, recipient, rule, newRule }) => (
                  <li key={`${id} ${recipient}`} className="break-words">
                    <Link to="/messages/$id" params={{ id }} className="link">
                      {recipient}
                    </Link>
                    : {rule ?? 'default'} becomes {newRule ?? 'default'}
                  </li>
                ))}
              </ul>
            </li>
          ))}
        </ul>
      )}
      {blindRules.length > 0 && (
        <Banner level="warning" title="Some rules were not rehearsed">
          {blindRules.join(', ')}: where mail was submitted from is not kept with it, so these matched
          nothing.
        </Banner>
      )}
    </div>
  );
}
