import { PlugZap } from 'lucide-react';
import { useEffect, useRef, useState } from 'react';
import type { RequestOf, StepOf } from '../../../../src/operations/table.ts';
import { stream } from '../../api.ts';
import { Button } from '../../parts/button.tsx';
import { FormError } from '../../parts/form.tsx';
import { type Step, StepList } from '../../parts/progress.tsx';
import { TextField } from '../../parts/text-field.tsx';

type ProbeStep = StepOf<'testRelay'>;

/** What a test has come to. */
interface Run {
  readonly steps: readonly ProbeStep[];
  /** Null while it runs. */
  readonly ok: boolean | null;
  readonly error: string | null;
}

/**
 * Connects to a relay without sending anything, and shows each step as it happens. `unsaved` gives a definition that is
 * not stored; null tests the relay as it is.
 */
export function RelayTest({
  name,
  type,
  unsaved,
}: {
  readonly name: string;
  readonly type: string;
  readonly unsaved: (() => RequestOf<'testRelay'>['unsaved']) | null;
}) {
  const [run, setRun] = useState<Run | null>(null);
  const [to, setTo] = useState('');
  const current = useRef<AbortController | null>(null);
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => () => current.current?.abort(), []);
  useEffect(() => {
    // What is told last stays in sight.
    if (run !== null) place.current?.scrollIntoView({ block: 'nearest' });
  }, [run]);
  const isMx = type === 'mx';
  const start = async () => {
    current.current?.abort();
    const abort = new AbortController();
    current.current = abort;
    const steps: ProbeStep[] = [];
    setRun({ steps, ok: null, error: null });
    try {
      const { ok } = await stream(
        'testRelay',
        { name, to: isMx ? to.trim() : null, unsaved: unsaved?.() ?? null },
        (step) => {
          steps.push(step);
          setRun({ steps: [...steps], ok: null, error: null });
        },
        abort.signal,
      );
      setRun({ steps, ok, error: null });
    } catch (error) {
      if (!abort.signal.aborted)
        setRun({ steps, ok: false, error: error instanceof Error ? error.message : 'The test failed.' });
    }
  };
  return (
    <div ref={place} className="space-y-4">
      {isMx && (
        <TextField
          label="Whose servers to try"
          hint="An address; nothing is sent to it."
          type="email"
          placeholder="someone@example.net"
          value={to}
          onChange={setTo}
        />
      )}
      <Button
        icon={PlugZap}
        busy={run !== null && run.ok === null}
        disabled={isMx && to.trim() === ''}
        onClick={() => void start()}
      >
        {run === null ? 'Test the connection' : run.ok === null ? 'Testing' : 'Test again'}
      </Button>
      {run !== null && (
        <>
          {(run.steps.length > 0 || run.ok === null) && (
            <StepList label="Steps of the test" steps={stepsOf(run)} />
          )}
          <FormError>{run.error}</FormError>
          {run.ok === true && (
            <p role="status" className="font-medium text-delivered">
              It works. Nothing was sent.
            </p>
          )}
          {run.ok === false && run.error === null && (
            <p role="status" className="font-medium text-failed">
              It does not work yet: see the last step.
            </p>
          )}
        </>
      )}
    </div>
  );
}

function stepsOf({ steps, ok }: Run): readonly Step[] {
  const told = steps.map((step, index): Step => {
    const begun = steps[index - 1]?.atMs ?? 0;
    return {
      title: <span className="font-mono text-sm">{step.code ?? step.name}</span>,
      state: step.ok ? 'ok' : 'failed',
      detail: step.detail,
      ms: Math.max(0, step.atMs - begun),
    };
  });
  return ok === null ? [...told, { title: 'Waiting for an answer', state: 'running' }] : told;
}
