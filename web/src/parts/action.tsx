import { type FormEvent, type ReactNode, useEffect, useRef } from 'react';
import type { OperationName, RequestOf } from '../../../src/operations/table.ts';
import { faultsOf } from '../faults.ts';
import { type ActOptions, useAct } from '../queries.ts';
import { Button } from './button.tsx';
import { ConfirmDialog } from './dialog.tsx';
import { FormError } from './form-error.tsx';

/**
 * A form that asks for one operation. It shows what is wrong at the fields and the rest above its buttons, focuses the
 * first field that is wrong, and cannot be sent twice.
 */
export function ActionForm<Name extends OperationName>({
  operation,
  request,
  fields = [],
  submit,
  cancel = 'Cancel',
  danger = false,
  disabled = false,
  onClose,
  children,
  ...options
}: Omit<ActOptions<Name>, 'quiet'> & {
  readonly operation: Name;
  /** What is asked for, as the form is filled in; null sends nothing. */
  readonly request: () => RequestOf<Name> | null;
  /** The fields of the request that the form shows, so that faults can stand at them. */
  readonly fields?: readonly (keyof RequestOf<Name> & string)[];
  /** What its buttons say. */
  readonly submit: string;
  readonly cancel?: string;
  readonly danger?: boolean;
  readonly disabled?: boolean;
  readonly onClose: () => void;
  /** The fields, given what is wrong with each. */
  readonly children: (faults: Readonly<Record<string, string>>) => ReactNode;
}) {
  const act = useAct(operation, { ...options, quiet: true });
  const form = useRef<HTMLFormElement>(null);
  const faults = faultsOf(act.error, fields);
  useEffect(() => {
    if (act.error !== null) form.current?.querySelector<HTMLElement>('[aria-invalid=true]')?.focus();
  }, [act.error]);
  const send = (event: FormEvent) => {
    event.preventDefault();
    const asked = request();
    if (asked !== null) act.mutate(asked);
  };
  return (
    <form ref={form} onSubmit={send} className="space-y-4">
      {children(faults.fields)}
      <FormError>{faults.rest}</FormError>
      <div className="flex flex-wrap justify-end gap-2">
        <Button onClick={onClose}>{cancel}</Button>
        <Button type="submit" look={danger ? 'danger' : 'primary'} busy={act.isPending} disabled={disabled}>
          {submit}
        </Button>
      </div>
    </form>
  );
}

/**
 * Asks once more before an operation is done; with `typed`, that word has to be written first. What refuses it is said
 * in the dialog, or, with `quiet` set to false, beside the page.
 */
export function ConfirmAction<Name extends OperationName>({
  operation,
  request,
  open = true,
  onClose,
  title,
  confirm,
  danger = false,
  typed,
  children,
  quiet = true,
  ...options
}: ActOptions<Name> & {
  readonly operation: Name;
  readonly request: RequestOf<Name>;
  readonly open?: boolean;
  readonly onClose: () => void;
  readonly title: string;
  /** What the button says, such as "Revoke key". */
  readonly confirm: string;
  readonly danger?: boolean;
  readonly typed?: string;
  /** What will happen, and what will not. */
  readonly children: ReactNode;
}) {
  const act = useAct(operation, { ...options, quiet });
  return (
    <ConfirmDialog
      open={open}
      onClose={onClose}
      onConfirm={() => act.mutate(request)}
      busy={act.isPending}
      title={title}
      confirm={confirm}
      danger={danger}
      {...(typed !== undefined && { typed })}
    >
      {children}
      {quiet && <FormError>{act.error?.message ?? null}</FormError>}
    </ConfirmDialog>
  );
}
