import { useEffect } from 'react';
import type { ResultOf } from '../../../../src/operations/table.ts';
import { call } from '../../api.ts';
import { Badge } from '../../parts/badge.tsx';
import { Button } from '../../parts/button.tsx';
import { CodeBlock } from '../../parts/copy.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { FormError } from '../../parts/form.tsx';
import { useRun } from '../../parts/run.tsx';
import { LoadingState } from '../../parts/states.tsx';
import { Duration, plainLines, Said, Time } from '../../parts/values.tsx';
import type { Endpoint } from './words.ts';

/** A request to an endpoint, and what came of it. */
export type Try = ResultOf<'testWebhook'>;

/** Whether an endpoint took what it was told: 2xx, and nothing else. */
export function isTaken({ status, error }: Pick<Try, 'status' | 'error'>): boolean {
  return error === null && status !== null && status >= 200 && status < 300;
}

/** The status of an answer, in its colour. */
export function AnswerBadge({ of }: { readonly of: Pick<Try, 'status' | 'error'> }) {
  return (
    <Badge tone={isTaken(of) ? 'good' : 'bad'} dot>
      {of.status === null ? 'No answer' : of.status}
    </Badge>
  );
}

/** A try with everything that is known of it. What the endpoint answered is shown as text. */
export function TryDetails({ of }: { readonly of: Try }) {
  const { at, durationMs, error, answer, status } = of;
  return (
    <div className="min-w-0 space-y-2">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
        <AnswerBadge of={of} />
        <span className="text-soft">
          after <Duration ms={durationMs} />
        </span>
        <span className="text-sm">
          <Time at={at} exact />
        </span>
      </div>
      {error !== null && <Said text={error} lines="several" className="block text-failed" />}
      {answer !== '' && <CodeBlock label="Answer" code={plainLines(answer)} wrap />}
      {answer === '' && status !== null && <p className="text-sm text-soft">The answer was empty.</p>}
    </div>
  );
}

/** Posts a test event to an endpoint: what begins it, and what shows at once what came of it. */
export function useWebhookTest({ id }: Pick<Endpoint, 'id'>) {
  const { state, result, error, start } = useRun(
    async (signal) => await call('testWebhook', { which: id }, signal),
  );
  const isRunning = state === 'running';
  const outcome = (
    <>
      {isRunning && <LoadingState lines={2} label="Waiting for the answer" />}
      <FormError>{error}</FormError>
      {result && !isRunning && (
        <div role="status" className="space-y-3">
          <p className="font-medium">
            {isTaken(result)
              ? 'It works: the endpoint took the event.'
              : 'It does not work yet: the endpoint did not take the event.'}
          </p>
          <TryDetails of={result} />
        </div>
      )}
    </>
  );
  return { start, isRunning, outcome };
}

/** Posts a test event to an endpoint at once. */
export function TestDialog({ of, onClose }: { readonly of: Endpoint; readonly onClose: () => void }) {
  const { start, isRunning, outcome } = useWebhookTest(of);
  useEffect(start, [start]);
  return (
    <Dialog
      onClose={onClose}
      title="Test"
      description={<Said text={of.url} lines="several" className="font-mono text-sm" />}
      footer={
        <>
          <Button label="Test again" busy={isRunning} onClick={start} />
          <Button look="primary" label="Done" onClick={onClose} />
        </>
      }
    >
      <div className="min-h-28 space-y-3">
        <p className="text-soft">
          An event of the type <code className="font-mono text-sm">webhook.test</code> is posted to it now. It
          is not in the log of events, and nobody else is told of it.
        </p>
        {outcome}
      </div>
    </Dialog>
  );
}
