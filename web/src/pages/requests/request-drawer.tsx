import { Link } from '@tanstack/react-router';
import { lazy, Suspense, useState } from 'react';
import type { ResultOf } from '../../../../src/operations/table.ts';
import { steadily } from '../../connection.ts';
import { formatCount, plural } from '../../format.ts';
import { Badge, type Tone } from '../../parts/badge.tsx';
import { Button, ButtonLink } from '../../parts/button.tsx';
import { Copyable } from '../../parts/copy.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { KeyValue } from '../../parts/page.tsx';
import { Duration, Said, Time } from '../../parts/values.tsx';
import { IfMay } from '../../session.tsx';
import { curesIn, cureWords } from './refusal-cures.ts';
import { Words } from './refused-sources.tsx';

/** A line of the log of requests. */
export type LoggedRequest = ResultOf<'requestLog'>['requests'][number];

type Session = NonNullable<LoggedRequest['session']>;

const AllowDialog = lazy(steadily(() => import('../overview/allow-dialog.tsx')));

/** How a session ended, in words. */
const ENDS: Readonly<Record<Session['end'], string>> = {
  quit: 'The client said QUIT',
  lost: 'The client left without QUIT',
  time_out: 'The client was silent for too long',
  closed: 'This server closed it',
};

/** The status of the answer, or of a session; and how many the line stands for. */
export function AnswerSign({ of: { status, standsFor, session } }: { readonly of: LoggedRequest }) {
  return (
    <span className="inline-flex flex-wrap items-center gap-1">
      <Badge tone={toneOf(status, session)} dot>
        {status ?? 'left'}
      </Badge>
      {standsFor > 1 && (
        <span className="text-xs text-soft" title={`Stands for ${counted(standsFor, session)}`}>
          ×{formatCount(standsFor)}
        </span>
      )}
    </span>
  );
}

function toneOf(status: number | null, session: Session | null): Tone {
  if (status === null) return 'warn';
  if (status >= 400) return 'bad';
  return session?.accepted === 0 ? 'neutral' : 'good';
}

function counted(standsFor: number, session: Session | null): string {
  return plural(standsFor, session === null ? 'request' : 'session');
}

/** What is said of a key where there is none: a request has one that nobody knows, a session may do without. */
export function keyless({ session }: Pick<LoggedRequest, 'session'>): string {
  return session === null ? 'unknown' : 'none';
}

interface DrawerProps {
  readonly of: LoggedRequest;
  readonly onClose: () => void;
  readonly onKey: (name: string) => void;
  readonly onSource: (address: string) => void;
}

/** Everything about a request or a session, and what to do if it was refused. */
export function RequestDrawer({ of, onClose, onKey, onSource }: DrawerProps) {
  const { at, key, method, path, code, meaning, faults, durationMs, requestId, standsFor } = of;
  const { session, sourceAddress } = of;
  const title = session === null ? `${method} ${path}` : `SMTP session ${session.hello ?? ''}`;
  return (
    <Dialog
      kind="drawer"
      onClose={onClose}
      title={<Said text={title} lines="several" />}
      {...(meaning !== null && { description: <Words text={meaning} /> })}
    >
      <div className="space-y-6">
        <Cure of={of} />
        <KeyValue
          rows={{
            Answer: <AnswerSign of={of} />,
            Code: code === null ? undefined : <Copyable text={code} />,
            From:
              sourceAddress === null ? undefined : (
                <Choice
                  title={`All requests from ${sourceAddress}`}
                  text={sourceAddress}
                  onPress={() => onSource(sourceAddress)}
                />
              ),
            Key:
              key === null ? (
                keyless(of)
              ) : (
                <Choice title={`All requests of ${key}`} text={key} onPress={() => onKey(key)} />
              ),
            ...(session !== null && sessionRows(session)),
            [session === null ? 'When' : 'Ended']: <Time at={at} exact />,
            Took: <Duration ms={durationMs} />,
            'Stands for': standsFor === 1 ? undefined : counted(standsFor, session),
            'Request id': requestId === '' ? undefined : <Copyable text={requestId} />,
          }}
        />
        {faults.length > 0 && <Faults faults={faults} />}
        {session !== null && session.refusals.length > 0 && <Refusals session={session} told={code} />}
      </div>
    </Dialog>
  );
}

function sessionRows({ tls, offered, accepted, messages, end }: Session) {
  return {
    TLS: tls ?? 'none: in clear',
    Accepted: `${formatCount(accepted)} of ${plural(offered, 'message')}`,
    Messages:
      messages.length === 0 ? undefined : (
        <ul>
          {messages.map((id) => (
            <li key={id}>
              <Link to="/messages/$id" params={{ id }} className="link font-mono text-sm break-all">
                {id}
              </Link>
            </li>
          ))}
          {accepted > messages.length && (
            <li className="text-soft">and {formatCount(accepted - messages.length)} more</li>
          )}
        </ul>
      ),
    'How it ended': ENDS[end],
  };
}

function Choice({
  title,
  text,
  onPress,
}: {
  readonly title: string;
  readonly text: string;
  readonly onPress: () => void;
}) {
  return (
    <button type="button" title={title} onClick={onPress} className="link text-left break-words">
      {text}
    </button>
  );
}

/** What to do, with the pages on which it is done; who may allow the source can do so here. */
function Cure({ of: { meaning, cure, setting, sourceAddress } }: { readonly of: LoggedRequest }) {
  const [asked, setAsked] = useState(false);
  if (cure === null) return null;
  return (
    <section aria-label="What to do" className="rounded-lg border border-line bg-sunken p-4">
      <h3 className="font-semibold">What to do</h3>
      <p className="mt-1">
        <Words text={cureWords(cure)} />
      </p>
      <div className="mt-3 flex flex-wrap gap-2 empty:hidden">
        {setting !== null && sourceAddress !== null && (
          <IfMay role="admin">
            <Button small look="primary" label={`Allow ${sourceAddress}…`} onClick={() => setAsked(true)} />
          </IfMay>
        )}
        {curesIn({ meaning, cure }, setting).map(({ label, target }) => (
          <ButtonLink key={label} small label={label} {...target} />
        ))}
      </div>
      <Suspense>
        {asked && sourceAddress !== null && (
          <AllowDialog denied={{ sourceAddress, setting }} onClose={() => setAsked(false)} />
        )}
      </Suspense>
    </section>
  );
}

function Faults({ faults }: Pick<LoggedRequest, 'faults'>) {
  return (
    <section>
      <h3 className="mb-2 font-semibold">Fields that were wrong</h3>
      <KeyValue
        rows={Object.fromEntries(
          faults.map((fault, place) => [
            faults.findIndex(({ pointer }) => pointer === fault.pointer) === place
              ? fault.pointer
              : `${fault.pointer} (${place + 1})`,
            <div key={`${fault.pointer} ${fault.code}`}>
              <code className="font-mono text-sm break-all">{fault.code}</code>
              <p>
                <Words text={fault.meaning} /> <Words text={fault.cure} />
              </p>
            </div>,
          ]),
        )}
      />
    </section>
  );
}

/** The first ways in which commands were refused: the reply as the client got it, and what to do. */
function Refusals({
  session: { refused, refusals },
  told,
}: {
  readonly session: Session;
  /** The code that the head tells of. */
  readonly told: string | null;
}) {
  const shown = refusals.reduce((sum, { times }) => sum + times, 0);
  return (
    <section>
      <h3 className="mb-2 font-semibold">Commands that were refused</h3>
      <ul className="divide-y divide-line border-y border-line">
        {refusals.map(({ verb, reply, enhanced, text, code, meaning, cure, times }) => (
          <li key={`${verb} ${reply} ${enhanced} ${code}`} className="py-2">
            <div className="font-mono text-sm break-words">
              <span className="font-medium">{verb ?? '?'}</span>{' '}
              <span className="text-failed">
                {reply} {enhanced}
              </span>{' '}
              <Said text={text} lines="several" mono />
            </div>
            <p className="mt-1 text-sm text-soft">
              {times > 1 && `${formatCount(times)} times. `}
              {code !== told && <Words text={`${meaning ?? code} ${cureWords(cure ?? '')}`} />}
            </p>
          </li>
        ))}
      </ul>
      {refused > shown && (
        <p className="mt-2 text-sm text-soft">{plural(refused - shown, 'more refusal')} not shown.</p>
      )}
    </section>
  );
}
