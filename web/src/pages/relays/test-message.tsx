import { Link } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';
import type { RequestOf, ResultOf, StepOf } from '../../../../src/operations/table.ts';
import { stream } from '../../api.ts';
import { classNames } from '../../parts/class-names.ts';
import { Form } from '../../parts/form.tsx';
import { type Step, StepList } from '../../parts/progress.tsx';
import { TextField } from '../../parts/text-field.tsx';
import { Time } from '../../parts/values.tsx';
import { useDoing } from '../../queries.ts';

type StoryStep = StepOf<'sendTestMessage'>;

/** Sends one message through a relay alone, and shows what becomes of it as it happens. */
export function TestMessage({ relay: { name, testSender } }: { readonly relay: ResultOf<'relay'> }) {
  const [steps, setSteps] = useState<readonly StoryStep[]>([]);
  const left = useRef<AbortController>(null);
  useEffect(() => () => left.current?.abort(), []);
  const send = useDoing(
    async (request: RequestOf<'sendTestMessage'>) => {
      left.current = new AbortController();
      setSteps([]);
      const tell = (step: StoryStep) => setSteps((told) => [...told, step]);
      return await stream('sendTestMessage', request, tell, left.current.signal);
    },
    { quiet: true },
  );
  const [first] = steps;
  return (
    <div className="space-y-4">
      <Form
        act={send}
        initial={{ to: '', from: testSender }}
        request={({ to, from }) => ({ name, to: to.trim(), from: from.trim() || null })}
        check={({ to }) => ({ to: to.trim() === '' ? 'Who is to get it?' : null })}
        submit={send.isIdle ? 'Send a test message' : 'Send another'}
        look="plain"
        noValidate
      >
        {({ field }) => (
          <>
            <TextField
              label="To"
              hint="Your own address, for example: it gets a real message."
              type="email"
              placeholder="you@example.com"
              {...field('to')}
            />
            <TextField
              label="From"
              hint="A sender that this relay accepts."
              type="email"
              {...field('from')}
            />
          </>
        )}
      </Form>
      {(first || send.isPending) && (
        <StepList label="What becomes of it" steps={storyOf(steps, send.isPending)} />
      )}
      {send.data && (
        <p role="status" className={classNames('font-medium', ENDS[send.data.status].color)}>
          {ENDS[send.data.status].words}
        </p>
      )}
      {first && (
        <Link to="/messages/$id" params={{ id: first.id }} className="link inline-block">
          Show the message
        </Link>
      )}
    </div>
  );
}

const GOES_ON = { words: 'Nothing has come of it yet. It goes on by itself.', color: 'text-retrying' };

/** How it ended, or how it was when the wait did. */
const ENDS: Readonly<
  Record<ResultOf<'sendTestMessage'>['status'], { readonly words: string; readonly color: string }>
> = {
  delivered: { words: 'Delivered: the next hop took it.', color: 'text-delivered' },
  failed: { words: 'It failed, and is not tried again: see the last step.', color: 'text-failed' },
  retrying: { words: 'It was not taken, and is tried again by itself.', color: 'text-retrying' },
  queued: GOES_ON,
  processing: GOES_ON,
};

const TITLES: Readonly<Record<string, string>> = {
  ACCEPTED: 'Accepted',
  ATTEMPT: 'Attempt',
  DELIVERED: 'Delivered',
  RETRYING: 'Not taken',
  FAILED: 'Failed',
  WAITING: 'Waits',
};

function storyOf(steps: readonly StoryStep[], isRunning: boolean): readonly Step[] {
  const told = steps.map(({ name, ok, detail, atMs, until }, index): Step => {
    const before = steps[index - 1]?.atMs ?? 0;
    return {
      title: TITLES[name] ?? name,
      state: name === 'WAITING' ? 'waiting' : ok ? 'ok' : 'failed',
      detail:
        until === undefined ? (
          detail
        ) : (
          <>
            It is tried again <Time at={until} ahead />.
          </>
        ),
      // What was told together took no time of its own.
      ms: atMs > before ? atMs - before : null,
    };
  });
  return isRunning ? [...told, { title: 'Waiting for an answer', state: 'running' }] : told;
}
