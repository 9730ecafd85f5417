import { useRouterState } from '@tanstack/react-router';
import { type ReactNode, useEffect, useSyncExternalStore } from 'react';
import type { OperationName, RequestOf, ResultOf } from '../../../src/operations/table.ts';
import { type ActOptions, useAct } from '../queries.ts';
import { ConfirmDialog } from './dialog.tsx';
import { FormError } from './form.tsx';

/** An operation that is asked about once more before it is done. */
interface AskedAct<Name extends OperationName> extends Omit<ActOptions<ResultOf<Name>>, 'quiet'> {
  readonly request: RequestOf<Name>;
  readonly title: string;
  /** What will happen, and what will not. */
  readonly text: ReactNode;
  /** What the button says, such as "Revoke key". */
  readonly confirm: string;
  readonly danger?: boolean;
  /** A word that has to be written first. */
  readonly typed?: string;
}

let asked: ReactNode = null;
let count = 0;
const listeners = new Set<() => void>();

function show(next: ReactNode): void {
  asked = next;
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Asks once more, over the page, before an operation is done: `ask('removeUser', { request: { name }, … })`. */
export function ask<Name extends OperationName>(operation: Name, act: AskedAct<Name>): void {
  show(<ConfirmAction key={count++} operation={operation} {...act} onClose={() => show(null)} />);
}

/** Where it is asked; once, around all pages. It goes with the page that asked. */
export function Asking() {
  const pathname = useRouterState({ select: ({ location }) => location.pathname });
  // biome-ignore lint/correctness/useExhaustiveDependencies: another page is shown
  useEffect(() => () => show(null), [pathname]);
  return useSyncExternalStore(subscribe, () => asked);
}

/** The dialog of {@link ask}, for what has to be chosen in it, too. What refuses the operation is said there. */
export function ConfirmAction<Name extends OperationName>({
  operation,
  request,
  text,
  done,
  changes,
  onDone,
  onClose,
  ...dialog
}: AskedAct<Name> & { readonly operation: Name; readonly onClose: () => void }) {
  const act = useAct(operation, {
    quiet: true,
    done,
    changes,
    onDone: (result) => {
      onClose();
      onDone?.(result);
    },
  });
  return (
    <ConfirmDialog
      {...dialog}
      open
      onClose={onClose}
      onConfirm={() => act.mutate(request)}
      busy={act.isPending}
    >
      {typeof text === 'string' ? <p>{text}</p> : text}
      <FormError>{act.error?.message}</FormError>
    </ConfirmDialog>
  );
}
