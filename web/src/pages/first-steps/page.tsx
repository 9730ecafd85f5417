import { Link, useRouter } from '@tanstack/react-router';
import { Send } from 'lucide-react';
import { useEffect, useRef, useState } from 'react';
import { StatusBadge } from '../../parts/badge.tsx';
import { Button, ButtonLink } from '../../parts/button.tsx';
import { ActionForm } from '../../parts/form.tsx';
import { Page } from '../../parts/page.tsx';
import { SecretOnce } from '../../parts/secret.tsx';
import { TextField } from '../../parts/text-field.tsx';
import { Said, Time } from '../../parts/values.tsx';
import { useCall } from '../../queries.ts';
import { refreshSession, setSession, useMay, useSession, useSessionAct } from '../../session.tsx';
import { createRequest, NEW_KEY } from '../settings/keys/key-form.ts';
import { SendExamples } from './send-examples.tsx';
import { FirstStep, type StepState } from './step.tsx';

const STEPS = ['capture', 'key', 'arrival', 'relay'] as const;
type StepName = (typeof STEPS)[number];

/** What came of each step, once it is done; nothing is said of what was only read. */
const OUTCOMES: Readonly<Partial<Record<StepName, string>>> = {
  key: 'There is a key.',
  arrival: 'A message has arrived.',
  relay: 'There is a relay.',
};

/** The guided path: from a password to the first message. Each step may be skipped; it comes back under Help. */
export function FirstStepsPage() {
  const { user, resident, firstSteps } = useSession();
  const router = useRouter();
  // `waybill dev` captures all mail, whatever relays there are.
  const steps = STEPS.filter((step) => step !== 'relay' || !resident);
  const [at, setAt] = useState<StepName | null>(() => firstOpen(firstSteps, resident));
  const [secret, setSecret] = useState<string | null>(null);
  const [done, setDone] = useState<readonly StepName[]>([]);
  const end = useSessionAct('first_steps', {
    onDone: (view) => {
      setSession(view);
      void router.navigate({ to: '/' });
    },
  });
  const isDone: Record<StepName, boolean> = {
    capture: done.includes('capture') || firstSteps.hasKey,
    key: firstSteps.hasKey || done.includes('key'),
    arrival: done.includes('arrival') || (firstSteps.hasMessage && secret === null),
    relay: firstSteps.hasRelay,
  };
  const next = (from: StepName) => setAt(steps[steps.indexOf(from) + 1] ?? null);
  const finish = (step: StepName) => {
    setDone([...done, step]);
    next(step);
  };
  const stateOf = (step: StepName): StepState => (at === step ? 'current' : isDone[step] ? 'done' : 'later');
  const common = (step: StepName) => ({
    state: stateOf(step),
    outcome: isDone[step] ? OUTCOMES[step] : undefined,
    onOpen: () => setAt(step),
    onSkip: () => next(step),
  });
  return (
    <Page
      title="First steps"
      note={`${resident ? 'To' : 'From a password to'} the first message, in a few minutes. Find this again under Help.`}
      narrow
    >
      <ol className="rounded-lg border border-line bg-surface">
        {!resident && (
          <FirstStep title="Your password" state="done" outcome={`You are signed in as ${user.name}.`} />
        )}
        <FirstStep title="What captured mail means" {...common('capture')}>
          <CaptureStep onDone={() => finish('capture')} />
        </FirstStep>
        <FirstStep title="A key for your program" {...common('key')}>
          <KeyStep
            secret={secret}
            onCreated={(created) => {
              setSecret(created);
              setDone([...done, 'key']);
            }}
            onDone={() => finish('key')}
          />
        </FirstStep>
        <FirstStep title="The first message" {...common('arrival')}>
          <ArrivalStep secret={secret} onDone={() => finish('arrival')} />
        </FirstStep>
        {!resident && (
          <FirstStep title="A relay that delivers" {...common('relay')}>
            <RelayStep hasRelay={firstSteps.hasRelay} />
          </FirstStep>
        )}
      </ol>
      <div className="mt-5 flex flex-wrap items-center justify-between gap-3">
        <p className="text-sm text-soft">
          Keys live under{' '}
          <Link to="/settings/$section" params={{ section: 'api-keys' }} className="link">
            Settings, API keys
          </Link>
          .
        </p>
        <Button
          look={at === null ? 'primary' : 'plain'}
          label={at === null || firstSteps.skipped ? 'To the overview' : 'Skip all of it'}
          busy={end.isPending}
          onClick={() => end.mutate({ skipped: true })}
        />
      </div>
    </Page>
  );
}

/** The first step that was not taken yet; null when all were. */
function firstOpen(
  { hasKey, hasMessage, hasRelay }: ReturnType<typeof useSession>['firstSteps'],
  resident: boolean,
): StepName | null {
  if (!hasKey) return 'capture';
  if (!hasMessage) return 'arrival';
  return hasRelay || resident ? null : 'relay';
}

/** Says where mail goes at present: into the local inbox, until someone sets up a relay. */
function CaptureStep({ onDone }: { readonly onDone: () => void }) {
  const { resident } = useSession();
  const relays = useCall('relays', {}, { topics: ['relays'] });
  const standard = relays.data?.find(({ isDefault }) => isDefault);
  const isCaptured = resident || standard === undefined || standard.type === 'inbox';
  return (
    <>
      {isCaptured ? (
        <div className="space-y-2">
          <p>
            <strong className="font-semibold">Nothing leaves this server{!resident && ' yet'}.</strong> All
            mail is captured: it is processed like real mail, but ends in the{' '}
            <Link to="/inbox" className="link">
              inbox
            </Link>{' '}
            here, where you can read it. So you can try things out, even with the addresses of real people.
          </p>
          {!resident && (
            <p className="text-soft">
              That ends when you set up a relay and make it the default. Mail of test keys stays captured even
              then.
            </p>
          )}
        </div>
      ) : (
        <p>
          Mail leaves this server through the relay{' '}
          <Link to="/relays/$name" params={{ name: standard.name }} className="link font-mono text-sm">
            {standard.name}
          </Link>
          . Mail of test keys is still captured: it is processed like real mail, but ends in the{' '}
          <Link to="/inbox" className="link">
            inbox
          </Link>{' '}
          here. Try things out with one of those.
        </p>
      )}
      <Button look="primary" label="Understood" onClick={onDone} />
    </>
  );
}

/** Says what a relay is for, and leads to where one is added. */
function RelayStep({ hasRelay }: { readonly hasRelay: boolean }) {
  const mayAdd = useMay('admin');
  return (
    <>
      <p>
        A relay sends mail on: to your company's mail server, to a provider such as Amazon SES or Postmark, or
        directly to the recipients' own servers. Test it before mail goes through it.
      </p>
      {mayAdd ? (
        <ButtonLink
          look="primary"
          icon={Send}
          label={hasRelay ? 'To the relays' : 'Add a relay'}
          to="/relays"
          {...(!hasRelay && { search: { add: 'choose' } })}
        />
      ) : (
        <p className="text-soft">An administrator adds relays.</p>
      )}
    </>
  );
}

/** In the place of a secret that is shown no more. */
const YOUR_KEY = 'YOUR_API_KEY';

/** Shows how to send a message, and that message when it comes. */
function ArrivalStep({ secret, onDone }: { readonly secret: string | null; readonly onDone: () => void }) {
  const newest = useCall(
    'messages',
    { statuses: [], filter: {}, limit: 1, before: null },
    { topics: ['messages'], everyMs: 5_000 },
  );
  const message = newest.data?.messages[0];
  // What was there before does not count; ids rise with time.
  const before = useRef<string | null>(null);
  if (newest.data && before.current === null) before.current = message?.id ?? '';
  const arrived = message !== undefined && before.current !== null && message.id > before.current;
  useEffect(() => {
    if (arrived) refreshSession();
  }, [arrived]);
  return (
    <>
      <p>
        Send one as your program would
        {secret === null && (
          <>
            , with your key in the place of <code className="font-mono text-sm">{YOUR_KEY}</code>
          </>
        )}
        :
      </p>
      <SendExamples secret={secret ?? YOUR_KEY} />
      <div aria-live="polite" className="overflow-hidden rounded-md border border-line bg-paper">
        {arrived ? (
          <Link
            to="/messages/$id"
            params={{ id: message.id }}
            className="flex flex-wrap items-center gap-x-3 gap-y-1 px-4 py-3 hover:bg-sunken"
          >
            <StatusBadge status={message.outcome ?? message.status} />
            <Said text={message.subject} none="No subject" className="min-w-0 flex-1 font-medium" />
            <span className="text-sm text-soft">
              from {message.from}, <Time at={message.createdAt} />
            </span>
          </Link>
        ) : (
          <div className="flex items-center gap-3 px-4 py-3 text-soft">
            <span
              aria-hidden
              className="size-2.5 shrink-0 animate-[pulse-dot_1.2s_ease-in-out_infinite] rounded-full bg-accent"
            />
            Waiting for the message. It appears here by itself.
          </div>
        )}
      </div>
      {arrived && <Button look="primary" label="It works: go on" onClick={onDone} />}
    </>
  );
}

/** Makes the first API key, and shows its secret once. */
function KeyStep({
  secret,
  onCreated,
  onDone,
}: {
  /** Of the key that was made here; null before. */
  readonly secret: string | null;
  readonly onCreated: (secret: string) => void;
  readonly onDone: () => void;
}) {
  const mayCreate = useMay('admin');
  if (secret !== null)
    return (
      <>
        <SecretOnce secret={secret} />
        <Button look="primary" label="Go on" onClick={onDone} />
      </>
    );
  if (!mayCreate) return <p>Programs send with a key, which an administrator makes for you.</p>;
  return (
    <ActionForm
      operation="createKey"
      initial={{ name: 'my-first-key' }}
      request={({ name }) => createRequest({ ...NEW_KEY, name })}
      onDone={(created) => {
        onCreated(created.secret);
        refreshSession();
      }}
      submit="Create key"
    >
      {({ field }) => (
        <>
          <p>
            Programs send with a key, over HTTP and SMTP. Give each program its own, so that you can tell
            their mail apart and revoke one key without affecting the others.
          </p>
          <TextField
            className="max-w-sm"
            label="Name of the key"
            hint="Such as the program that will use it."
            required
            maxLength={100}
            {...field('name')}
          />
        </>
      )}
    </ActionForm>
  );
}
