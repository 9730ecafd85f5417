import { Badge, StatusBadge } from '../../parts/badge.tsx';
import { KeyValue, type Rows } from '../../parts/page.tsx';
import { PartsBar } from '../../parts/progress.tsx';
import { Duration, Said, Time } from '../../parts/values.tsx';
import { type Attempt, phasesOf, replyText } from './timeline.ts';

/** Recipients of an attempt that are shown. */
const MAX_RESULTS = 50;

/** All that was recorded of one try: with whom, how safely, how long each phase took, and what was said. */
export function AttemptEvidence({ attempt }: { readonly attempt: Attempt }) {
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

function Section({ title, children }: { readonly title: string; readonly children: React.ReactNode }) {
  return (
    <section>
      <h3 className="caption mb-1">{title}</h3>
      {children}
    </section>
  );
}
