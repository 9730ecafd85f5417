import { useMutation } from '@tanstack/react-query';
import { Link, useRouter } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import type { SessionView } from '../../../../src/dashboard/contract.ts';
import { type ApiError, sessionCall } from '../../api.ts';
import { Button } from '../../parts/button.tsx';
import { Page } from '../../parts/page.tsx';
import { toast } from '../../parts/toast.tsx';
import { setSession, useSession } from '../../session.tsx';
import { ArrivalStep } from './arrival-step.tsx';
import { CaptureStep } from './capture-step.tsx';
import { KeyStep } from './key-step.tsx';
import { RelayStep } from './relay-step.tsx';
import { FirstStep, type StepState } from './step.tsx';

const STEPS = ['capture', 'key', 'arrival', 'relay'] as const;
type StepName = (typeof STEPS)[number];

/** The guided path: from a password to the first message. Each step may be skipped; it comes back under Help. */
export function FirstStepsPage() {
  const { user, firstSteps } = useSession();
  const router = useRouter();
  const [at, setAt] = useState<StepName | null>(() => firstOpen(firstSteps));
  const [secret, setSecret] = useState<string | null>(null);
  const [done, setDone] = useState<readonly StepName[]>([]);
  const end = useMutation<SessionView, ApiError, void>({
    mutationFn: () => sessionCall('first_steps', { skipped: true }),
    onSuccess: (view) => {
      setSession(view);
      void router.navigate({ to: '/' });
    },
    onError: (error) => toast.error(error.message, error.requestId),
  });
  const isDone: Record<StepName, boolean> = {
    capture: done.includes('capture') || firstSteps.hasKey,
    key: firstSteps.hasKey || done.includes('key'),
    arrival: done.includes('arrival') || (firstSteps.hasMessage && secret === null),
    relay: firstSteps.hasRelay,
  };
  const next = (from: StepName) => setAt(STEPS[STEPS.indexOf(from) + 1] ?? null);
  const finish = (step: StepName) => {
    setDone([...done, step]);
    next(step);
  };
  const stateOf = (step: StepName): StepState => (at === step ? 'current' : isDone[step] ? 'done' : 'later');
  const common = (step: StepName) => ({
    state: stateOf(step),
    onOpen: () => setAt(step),
    onSkip: () => next(step),
  });
  return (
    <Page
      title="First steps"
      note="From a password to the first message, in a few minutes. Find this again under Help."
      narrow
    >
      <ol className="rounded-lg border border-line bg-surface">
        <FirstStep title="Your password" state="done" outcome={`You are signed in as ${user.name}.`} />
        <FirstStep title="What captured mail means" {...common('capture')}>
          <CaptureStep onDone={() => finish('capture')} />
        </FirstStep>
        <FirstStep
          title="A key for your program"
          outcome={isDone.key ? 'There is a key.' : undefined}
          {...common('key')}
        >
          <KeyStep
            secret={secret}
            onCreated={(created) => {
              setSecret(created);
              setDone([...done, 'key']);
            }}
            onDone={() => finish('key')}
          />
        </FirstStep>
        <FirstStep
          title="The first message"
          outcome={isDone.arrival ? 'A message has arrived.' : undefined}
          {...common('arrival')}
        >
          <ArrivalStep secret={secret} onDone={() => finish('arrival')} />
        </FirstStep>
        <FirstStep
          title="A relay that delivers"
          outcome={isDone.relay ? 'There is a relay.' : undefined}
          {...common('relay')}
        >
          <RelayStep hasRelay={firstSteps.hasRelay} />
        </FirstStep>
      </ol>
      <Ending>
        <Button look={at === null ? 'primary' : 'plain'} busy={end.isPending} onClick={() => end.mutate()}>
          {at === null || firstSteps.skipped ? 'To the overview' : 'Skip all of it'}
        </Button>
      </Ending>
    </Page>
  );
}

/** The first step that was not taken yet; null when all were. */
function firstOpen({
  hasKey,
  hasMessage,
  hasRelay,
}: ReturnType<typeof useSession>['firstSteps']): StepName | null {
  if (!hasKey) return 'capture';
  if (!hasMessage) return 'arrival';
  return hasRelay ? null : 'relay';
}

function Ending({ children }: { readonly children: ReactNode }) {
  return (
    <div className="mt-5 flex flex-wrap items-center justify-between gap-3">
      <p className="text-sm text-soft">
        Keys live under{' '}
        <Link to="/settings/$section" params={{ section: 'api-keys' }} className="link">
          Settings, API keys
        </Link>
        .
      </p>
      {children}
    </div>
  );
}
