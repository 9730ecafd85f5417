import { PlugZap } from 'lucide-react';
import { useEffect, useRef, useState } from 'react';
import type { RequestOf, StepOf } from '../../../../src/operations/table.ts';
import { stream } from '../../api.ts';
import { Button } from '../../parts/button.tsx';
import { classNames } from '../../parts/class-names.ts';
import { FormError } from '../../parts/form.tsx';
import { type Step, StepList } from '../../parts/progress.tsx';
import { useRun } from '../../parts/run.tsx';
import { TextField } from '../../parts/text-field.tsx';

type ProbeStep = StepOf<'testRelay'>;

/**
 * Connects to a relay without sending anything, and shows each step as it happens. `unsaved` gives a definition that is
 * not stored; null tests the relay as it is. `atOnce` is for those who asked for it already.
 */
export function RelayTest({
  name,
  type,
  unsaved,
  atOnce = false,
}: {
  readonly name: string;
  readonly type: string;
  readonly unsaved: (() => RequestOf<'testRelay'>['unsaved']) | null;
  readonly atOnce?: boolean;
}) {
  const [steps, setSteps] = useState<readonly ProbeStep[]>([]);
  const [to, setTo] = useState('');
  const place = useRef<HTMLDivElement>(null);
  const isMx = type === 'mx';
  const { state, result, error, start } = useRun(async (signal) => {
    setSteps([]);
    const request = { name, to: isMx ? to.trim() : null, unsaved: unsaved?.() ?? null };
    return await stream('testRelay', request, (step) => setSteps((told) => [...told, step]), signal);
  });
  useEffect(() => {
    if (atOnce && !isMx) start();
  }, [atOnce, isMx, start]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: what is told last stays in sight
  useEffect(() => {
    if (state !== 'ready') place.current?.scrollIntoView({ block: 'nearest' });
  }, [state, steps]);
  const isRunning = state === 'running';
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
        label={state === 'ready' ? 'Test the connection' : isRunning ? 'Testing' : 'Test again'}
        busy={isRunning}
        disabled={isMx && to.trim() === ''}
        onClick={start}
      />
      {(steps.length > 0 || isRunning) && (
        <StepList label="Steps of the test" steps={stepsOf(steps, isRunning)} />
      )}
      <FormError>{error}</FormError>
      {result && (
        <p role="status" className={classNames('font-medium', result.ok ? 'text-delivered' : 'text-failed')}>
          {result.ok ? 'It works. Nothing was sent.' : 'It does not work yet: see the last step.'}
        </p>
      )}
    </div>
  );
}

function stepsOf(steps: readonly ProbeStep[], isRunning: boolean): readonly Step[] {
  const told = steps.map((step, index): Step => {
    const begun = steps[index - 1]?.atMs ?? 0;
    return {
      title: <span className="font-mono text-sm">{step.code ?? step.name}</span>,
      state: step.ok ? 'ok' : 'failed',
      detail: step.detail,
      ms: Math.max(0, step.atMs - begun),
    };
  });
  return isRunning ? [...told, { title: 'Waiting for an answer', state: 'running' }] : told;
}
