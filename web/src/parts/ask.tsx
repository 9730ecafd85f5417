import { useRouterState } from '@tanstack/react-router';
import { type ReactNode, useEffect } from 'react';
import type { OperationName, RequestOf, ResultOf } from '../../../src/operations/table.ts';
import { type ActOptions, useAct } from '../queries.ts';
import { Store, useStored } from '../store.ts';
import { Form } from './form.tsx';
import { TextField } from './text-field.tsx';

/** An operation that is asked about once more before it is done. */
interface AskedAct<Name extends OperationName>
  extends Omit<ActOptions<ResultOf<Name>>, 'quiet'>,
    Omit<Heads, 'onClose'> {
  readonly request: RequestOf<Name>;
  /** What will happen, and what will not. */
  readonly text: ReactNode;
}

/** What every confirmation says. */
interface Heads {
  readonly title: string;
  /** What the button says, such as "Revoke key". */
  readonly confirm: string;
  readonly danger?: boolean;
  /** A word that has to be written first. */
  readonly typed?: string;
  readonly onClose: () => void;
}

const asked = new Store<ReactNode>(null);
let count = 0;

/** Asks once more, over the page, before an operation is done: `ask('removeUser', { request: { name }, … })`. */
export function ask<Name extends OperationName>(operation: Name, act: AskedAct<Name>): void {
  asked.put(<ConfirmAction key={count++} operation={operation} {...act} onClose={() => asked.put(null)} />);
}

/** Where it is asked; once, around all pages. It goes with the page that asked. */
export function Asking() {
  const pathname = useRouterState({ select: ({ location }) => location.pathname });
  // biome-ignore lint/correctness/useExhaustiveDependencies: another page is shown
  useEffect(() => () => asked.put(null), [pathname]);
  return useStored(asked);
}

/** The dialog of {@link ask}, for what has to be chosen in it, too. What refuses the operation is said there. */
export function ConfirmAction<Name extends OperationName>({
  operation,
  request,
  text,
  done,
  onDone,
  onClose,
  ...dialog
}: AskedAct<Name> & { readonly operation: Name; readonly onClose: () => void }) {
  const act = useAct(operation, {
    quiet: true,
    done,
    onDone: (result) => {
      onClose();
      onDone?.(result);
    },
  });
  return (
    <Confirmation {...dialog} act={act} request={request} onClose={onClose}>
      {typeof text === 'string' ? <p>{text}</p> : text}
    </Confirmation>
  );
}

/** Asks once more before something is done here. */
export function ConfirmDialog({
  open,
  onConfirm,
  busy = false,
  ...dialog
}: Heads & {
  readonly open: boolean;
  readonly onConfirm: () => void;
  readonly busy?: boolean;
  readonly children: ReactNode;
}) {
  if (!open) return null;
  return <Confirmation {...dialog} act={{ mutate: onConfirm, error: null, isPending: busy }} request={{}} />;
}

function Confirmation<Request, Result>({
  act,
  request,
  onClose,
  title,
  confirm,
  danger = false,
  typed,
  children,
}: Heads &
  Pick<Parameters<typeof Form<object, Request, Result>>[0], 'act'> & {
    readonly request: Request;
    readonly children: ReactNode;
  }) {
  return (
    <Form
      sheet={{ title, size: 'small' }}
      act={act}
      initial={{ written: '' }}
      request={() => request}
      submit={confirm}
      cancel="Keep as it is"
      look={danger ? 'danger' : 'primary'}
      disabled={({ written }) => typed !== undefined && written !== typed}
      onClose={onClose}
    >
      {({ field }) => (
        <>
          {children}
          {typed !== undefined && (
            <TextField
              label={
                <>
                  Type <code className="font-mono">{typed}</code> to go on
                </>
              }
              verbatim
              {...field('written')}
            />
          )}
        </>
      )}
    </Form>
  );
}
