import { type ReactNode, useCallback, useEffect, useRef, useState } from 'react';
import { Button } from './button.tsx';
import { Dialog } from './dialog.tsx';
import { Form } from './form.tsx';

/** Something that takes a while, and can be stopped. */
export interface Run<Result> {
  readonly state: 'ready' | 'running' | 'done' | 'failed';
  readonly result: Result | null;
  readonly error: string | null;
  /** Begins, or begins anew. */
  readonly start: () => void;
}

/** Runs what takes a while. Its signal is aborted when it begins anew, or what shows it goes. */
export function useRun<Result>(work: (signal: AbortSignal) => Promise<Result>): Run<Result> {
  const [run, setRun] = useState<Omit<Run<Result>, 'start'>>({ state: 'ready', result: null, error: null });
  const current = useRef<AbortController>(null);
  const latest = useRef(work);
  latest.current = work;
  useEffect(() => () => current.current?.abort(), []);
  const start = useCallback(() => {
    current.current?.abort();
    const controller = new AbortController();
    current.current = controller;
    const end = (next: typeof run) => {
      if (!controller.signal.aborted) setRun(next);
    };
    setRun({ state: 'running', result: null, error: null });
    latest.current(controller.signal).then(
      (result) => end({ state: 'done', result, error: null }),
      (failure: unknown) => end({ state: 'failed', result: null, error: wordsOf(failure) }),
    );
  }, []);
  return { ...run, start };
}

function wordsOf(failure: unknown): string {
  // What a browser throws when an answer breaks off.
  if (failure instanceof TypeError) return 'The connection to the server was lost.';
  return failure instanceof Error ? failure.message : String(failure);
}

/** Asks before something that takes a while, shows how far it is, can stop it, and says what came of it. */
export function RunDialog<Result>({
  run: { state, result, error, start },
  title,
  description,
  confirm,
  cancel = 'Keep as it is',
  danger = false,
  disabled = false,
  onClose,
  report,
  children,
}: {
  readonly run: Run<Result>;
  readonly title: string;
  readonly description?: string;
  /** What the button says that begins it. */
  readonly confirm: string;
  readonly cancel?: string;
  readonly danger?: boolean;
  readonly disabled?: boolean;
  readonly onClose: () => void;
  /** What is said once it is done. */
  readonly report: (result: Result) => ReactNode;
  /** What is said before and meanwhile. */
  readonly children: ReactNode;
}) {
  const isRunning = state === 'running';
  return (
    <Form
      act={{ mutate: start, error: null, isPending: isRunning }}
      initial={{}}
      request={() => ({})}
      sort={() => ({ fields: {}, rest: error })}
      submit={confirm}
      cancel={isRunning ? 'Stop' : cancel}
      look={danger ? 'danger' : 'primary'}
      disabled={() => disabled}
      onClose={onClose}
      layout={(form, buttons) => (
        <Dialog
          onClose={onClose}
          title={title}
          description={description}
          size="small"
          footer={state === 'done' ? <Button look="primary" label="Done" onClick={onClose} /> : buttons}
        >
          {form}
        </Dialog>
      )}
    >
      {() => (result === null ? children : report(result))}
    </Form>
  );
}
