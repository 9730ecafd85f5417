import type { UseMutationResult } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { ArrowRight } from 'lucide-react';
import { useEffect } from 'react';
import type { ResultOf } from '../../../../src/operations/table.ts';
import { formatCount, plural } from '../../format.ts';
import { Badge, type Tone } from '../../parts/badge.tsx';
import { Form, FormError } from '../../parts/form.tsx';
import { Banner, LoadingState } from '../../parts/states.tsx';
import { useAct } from '../../queries.ts';
import { changesOf, type Rule, type RuleChange } from './rules.ts';

/** With how many messages a table is rehearsed. */
const REHEARSED = 1000;

const TONES: Readonly<Record<RuleChange['kind'], Tone>> = {
  added: 'good',
  removed: 'bad',
  changed: 'warn',
  moved: 'busy',
};

/** Rehearses a changed table with the mail of late, and puts it into force once that was looked at. */
export function PublishDialog({
  before,
  after,
  title,
  act,
  onPublish,
  onClose,
  onRefused,
}: {
  readonly before: readonly Rule[];
  readonly after: readonly Rule[];
  readonly title: string;
  readonly act: Pick<UseMutationResult<unknown, Error>, 'isPending' | 'error'>;
  readonly onPublish: () => void;
  readonly onClose: () => void;
  /** The rules cannot be read. */
  readonly onRefused?: (error: Error) => void;
}) {
  const rehearse = useAct('rehearseRoutes', { quiet: true });
  const { mutate } = rehearse;
  // biome-ignore lint/correctness/useExhaustiveDependencies: once, for the rules that the dialog was opened with
  useEffect(() => {
    mutate({ routes: after, last: REHEARSED }, { onError: (error) => onRefused?.(error) });
  }, []);
  return (
    <Form
      sheet={{
        title,
        description: 'Mail that is accepted from then on follows it, and waiting mail is routed anew.',
      }}
      act={{ ...act, mutate: onPublish }}
      initial={{}}
      request={() => ({})}
      submit="Publish"
      cancel="Go on editing"
      disabled={() => !rehearse.isSuccess}
      onClose={onClose}
      className="space-y-5"
    >
      {() => (
        <>
          <section>
            <h3 className="mb-2 font-semibold">What changes</h3>
            <ul className="space-y-1">
              {changesOf(before, after).map(({ name, kind }) => (
                <li key={`${kind} ${name}`} className="flex items-center gap-2">
                  <span className="w-20">
                    <Badge tone={TONES[kind]}>{kind}</Badge>
                  </span>
                  <code className="min-w-0 font-mono text-sm break-all">{name}</code>
                </li>
              ))}
            </ul>
          </section>
          <section aria-live="polite">
            <h3 className="mb-2 font-semibold">Rehearsal</h3>
            {rehearse.data ? (
              <RehearsalResult rehearsal={rehearse.data} />
            ) : rehearse.error ? (
              <FormError>{rehearse.error.message}</FormError>
            ) : (
              <LoadingState lines={2} label="Rehearsing" />
            )}
          </section>
        </>
      )}
    </Form>
  );
}

type Rehearsal = ResultOf<'rehearseRoutes'>;

/** What a changed table would do with the mail stored last. */
function RehearsalResult({ rehearsal }: { readonly rehearsal: Rehearsal }) {
  const { messages, recipients, unchanged, otherFallback, moves, blindRules } = rehearsal;
  const moving = moves.reduce((sum, move) => sum + move.recipients, 0);
  if (messages === 0)
    return (
      <p className="text-soft">
        There is no mail yet to rehearse with. The new table applies to future mail.
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
          {blindRules.join(', ')}: the submitting address is not stored with mail, so these matched nothing.
        </Banner>
      )}
    </div>
  );
}
