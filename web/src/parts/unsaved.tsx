import { useBlocker } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { ConfirmDialog } from './ask.tsx';
import { Button } from './button.tsx';

/** Stands at the foot of the window while something is changed and not stored. */
export function UnsavedBar({
  children,
  save,
  disabled = false,
  onSave,
  onDiscard,
}: {
  readonly children: ReactNode;
  /** What its button says. */
  readonly save: string;
  readonly disabled?: boolean;
  readonly onSave: () => void;
  readonly onDiscard: () => void;
}) {
  return (
    <div className="sticky bottom-0 z-20 pb-3">
      <div className="flex flex-wrap items-center gap-3 rounded-lg border border-edge/60 bg-raised px-4 py-2.5 shadow-raised">
        <span role="status" className="min-w-0 flex-1 basis-48">
          {children}
        </span>
        <div className="ml-auto flex gap-2">
          <Button small label="Discard" onClick={onDiscard} />
          <Button small look="primary" label={save} disabled={disabled} onClick={onSave} />
        </div>
      </div>
    </div>
  );
}

/** Asks before what is not stored is left behind, by a way out of the pages whose paths begin like this. */
export function LeaveGuard({
  isDirty,
  within,
  title,
  children,
}: {
  readonly isDirty: boolean;
  readonly within: string;
  readonly title: string;
  readonly children: string;
}) {
  const blocker = useBlocker({
    shouldBlockFn: ({ next }) => isDirty && !`${next.pathname}/`.startsWith(`${within}/`),
    enableBeforeUnload: isDirty,
    withResolver: true,
  });
  return (
    <ConfirmDialog
      open={blocker.status === 'blocked'}
      onClose={() => blocker.reset?.()}
      onConfirm={() => blocker.proceed?.()}
      title={title}
      confirm="Leave"
      danger
    >
      <p>{children}</p>
    </ConfirmDialog>
  );
}
