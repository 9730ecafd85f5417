import {
  Ban,
  Check,
  CheckCheck,
  CircleDashed,
  Clock,
  Flag,
  Inbox,
  type LucideIcon,
  MailX,
  RotateCw,
  Send,
  Undo2,
  X,
} from 'lucide-react';
import { type ReactNode, useState } from 'react';
import { formatOffset } from '../../format.ts';
import { Badge, StatusBadge } from '../../parts/badge.tsx';
import { Button } from '../../parts/button.tsx';
import { classNames } from '../../parts/class-names.ts';
import type { MoreRows } from '../../parts/data-table.tsx';
import { KeyValue, type Rows } from '../../parts/page.tsx';
import { PartsBar } from '../../parts/progress.tsx';
import { DueAt, Duration, Said, Time } from '../../parts/values.tsx';
import { type Attempt, type Happening, replyText, type Story } from './story.ts';
import { offsetsOf, phasesOf, timelineOf } from './timeline.ts';

/** Of a long life, so many happenings are shown at its beginning and at its end. */
const HEAD = 3;
const TAIL = 5;

const SIGNS: Readonly<Record<string, readonly [LucideIcon, string]>> = {
  accepted: [Check, 'bg-accent-soft text-accent'],
  captured: [Inbox, 'bg-accent-soft text-accent'],
  delivered: [Check, 'bg-delivered-soft text-delivered'],
  rejected: [X, 'bg-failed-soft text-failed'],
  confirmed: [CheckCheck, 'bg-delivered-soft text-delivered'],
  bounced: [Undo2, 'bg-failed-soft text-failed'],
  complained: [Flag, 'bg-failed-soft text-failed'],
  unsubscribed: [MailX, 'bg-retrying-soft text-retrying'],
  failed: [Ban, 'bg-failed-soft text-failed'],
  deferred: [RotateCw, 'bg-retrying-soft text-retrying'],
  unknown: [CircleDashed, 'bg-retrying-soft text-retrying'],
  processing: [Send, 'bg-processing-soft text-processing'],
  queued: [Clock, 'bg-queued-soft text-queued'],
};

/** A message's life from its acceptance on; each attempt opens to its evidence. */
export function Happenings({
  story,
  more,
  hasEvidence = true,
}: {
  readonly story: Story;
  /** Attempts that have not been fetched. */
  readonly more: MoreRows;
  /** False: others are shown the story, without the evidence of its attempts, and no more of them than there are. */
  readonly hasEvidence?: boolean;
}) {
  const [all, setAll] = useState(false);
  const life = timelineOf({ ...story, moreAttempts: more.has });
  const isLong = !all && life.length > HEAD + TAIL + 2;
  const head = isLong ? life.slice(0, HEAD) : life;
  const tail = isLong ? life.slice(-TAIL) : [];
  const offsets = offsetsOf([...head, ...tail]);
  const draw = (one: Happening) => (
    <Point
      key={one.key}
      happening={one}
      offset={offsets.get(one.key)}
      attempt={hasEvidence ? story.attempts.find(({ number }) => number === one.attempt) : undefined}
      {...(one.key === 'more' &&
        hasEvidence && {
          action: <Button small label="Show more attempts" busy={more.loading} onClick={more.load} />,
        })}
    />
  );
  return (
    <ol aria-label="What happened" className="relative">
      {head.map(draw)}
      {isLong && (
        <li className="relative flex gap-3 pb-4">
          <Line />
          <span className="flex w-6.5 shrink-0 justify-center">
            <span aria-hidden className="z-1 bg-surface py-1 text-faint">
              ⋮
            </span>
          </span>
          <Button
            small
            look="quiet"
            label={`Show ${life.length - HEAD - TAIL} more`}
            className="-ml-2"
            onClick={() => setAll(true)}
          />
        </li>
      )}
      {tail.map(draw)}
    </ol>
  );
}

function Line() {
  return (
    <span
      aria-hidden
      className="absolute top-0 bottom-0 left-[calc(0.8125rem_-_0.5px)] w-px bg-line group-last/point:hidden"
    />
  );
}

function Point({
  happening: { at, title, detail, mark, ahead },
  offset,
  attempt,
  action,
}: {
  readonly happening: Happening;
  /** How long after the one above, in ms. */
  readonly offset: number | undefined;
  readonly attempt: Attempt | undefined;
  readonly action?: ReactNode;
}) {
  const [Icon, tone] = SIGNS[mark] ?? [CircleDashed, 'bg-queued-soft text-queued'];
  const [open, setOpen] = useState(false);
  return (
    <li className="group/point relative flex gap-3 pb-4 last:pb-0">
      <Line />
      <span
        className={classNames(
          'z-1 flex size-6.5 shrink-0 items-center justify-center rounded-full',
          tone,
          ahead && 'border border-dashed border-current',
        )}
      >
        <Icon aria-hidden size={14} />
      </span>
      <div className="min-w-0 flex-1 pt-0.5">
        <div className="flex flex-wrap items-baseline justify-between gap-x-4">
          <span className={classNames('min-w-0 font-medium break-words', ahead && 'text-soft')}>
            {title}
            {ahead && <span className="sr-only"> (not yet)</span>}
          </span>
          {at !== null && (
            <span className="flex gap-x-2.5 text-sm text-soft">
              {offset !== undefined && (
                <span title="After the event above" className="whitespace-nowrap text-ink">
                  {formatOffset(offset)}
                </span>
              )}
              {ahead ? <DueAt at={at} /> : <Time at={at} />}
            </span>
          )}
        </div>
        {detail !== null && <Said text={detail} lines="several" className="block text-sm text-soft" />}
        {action !== undefined && <div className="mt-1.5">{action}</div>}
        {attempt && (
          <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)} className="mt-1">
            <summary className="link inline-block w-fit rounded-sm text-sm">Evidence</summary>
            {open && <AttemptEvidence attempt={attempt} />}
          </details>
        )}
      </div>
    </li>
  );
}

/** Recipients of an attempt that are shown. */
const MAX_RESULTS = 50;

/** All that was recorded of one try: with whom, how safely, how long each phase took, and what was said. */
function AttemptEvidence({ attempt }: { readonly attempt: Attempt }) {
  const { number, steps, results, dns } = attempt;
  const phases = phasesOf(attempt);
  return (
    <div className="mt-2 space-y-4 rounded-md border border-line bg-paper p-3">
      <PartsBar label={`Where the time of attempt ${number} went`} parts={phases} />
      <KeyValue rows={factsOf(attempt)} />
      <Section title="Results">
        <ul className="space-y-1.5">
          {results.slice(0, MAX_RESULTS).map(({ recipient, outcome, code, enhancedCode, reply }) => (
            <li key={recipient} className="min-w-0">
              <div className="flex min-w-0 items-center gap-2">
                <StatusBadge status={outcome} />
                <Said text={recipient} className="min-w-0" />
              </div>
              <Said
                text={replyText(code, enhancedCode, reply)}
                none="No reply"
                lines="several"
                mono
                className="block text-soft"
              />
            </li>
          ))}
          {results.length > MAX_RESULTS && (
            <li className="text-sm text-soft">and {results.length - MAX_RESULTS} more recipients</li>
          )}
        </ul>
      </Section>
      {steps.length > 0 && (
        <Section title="Conversation">
          <Steps steps={steps} />
        </Section>
      )}
      {dns.length > 0 && (
        <Section title="DNS">
          <ul className="space-y-1 font-mono text-sm">
            {dns.map(({ name, type, result, answers, authenticated }) => (
              <li key={`${type} ${name}`} className="min-w-0">
                <Said
                  text={`${type} ${name}: ${answers.length > 0 ? answers.join(', ') : result}`}
                  lines="several"
                />
                {authenticated && (
                  <>
                    {' '}
                    <Badge tone="good">DNSSEC</Badge>
                  </>
                )}
              </li>
            ))}
          </ul>
        </Section>
      )}
    </div>
  );
}

const VERDICTS = {
  verified: ['good', 'Certificate verified'],
  dane: ['good', 'Verified by DANE'],
  unverified: ['warn', 'Encrypted, not verified'],
  none: ['bad', 'In clear'],
} as const;

function factsOf(attempt: Attempt): Rows {
  const { startedAt, relay, host, address, localAddress, tls, security, reused, timings } = attempt;
  const verdict = security?.verdict ? VERDICTS[security.verdict] : null;
  const { queueMs } = timings;
  return {
    Began: <Time at={startedAt} exact />,
    'Waited before': queueMs === null ? undefined : <Duration ms={queueMs} />,
    Relay: relay,
    Host:
      host === null && address === null ? null : (
        <>
          <Said text={[host, address && `[${address}]`].filter(Boolean).join(' ')} lines="several" />
          {reused && <span className="text-soft"> (connection used again)</span>}
        </>
      ),
    'From address': localAddress ?? undefined,
    Encryption:
      tls === null && verdict === null ? null : (
        <span className="inline-flex flex-wrap items-center gap-x-2 gap-y-1">
          {verdict && <Badge tone={verdict[0]}>{verdict[1]}</Badge>}
          {tls !== null && <Said text={tls} lines="several" />}
        </span>
      ),
    'MTA-STS': security?.mtaSts || undefined,
    DANE: security?.dane || undefined,
  };
}

/** What was said and answered, in order, with the time since the attempt began. */
function Steps({ steps }: { readonly steps: Attempt['steps'] }) {
  return (
    <ol className="max-h-96 space-y-1 overflow-y-auto rounded-sm border border-line bg-surface p-2.5">
      {steps.map(({ verb, reply, atMs }, index) => (
        <li
          // biome-ignore lint/suspicious/noArrayIndexKey: verbs repeat; their order is fixed
          key={index}
          className="grid grid-cols-[3.75rem_minmax(0,1fr)] gap-x-2 font-mono text-sm"
        >
          <span className="text-right text-faint">
            <Duration ms={atMs} />
          </span>
          <span className="min-w-0">
            <Said text={verb} lines="several" className="block font-semibold" />
            <Said text={reply} none="" lines="several" className="block text-soft" />
          </span>
        </li>
      ))}
    </ol>
  );
}

function Section({ title, children }: { readonly title: string; readonly children: ReactNode }) {
  return (
    <section>
      <h3 className="caption mb-1">{title}</h3>
      {children}
    </section>
  );
}
