import { Dialog as Base } from '@base-ui/react/dialog';
import { X } from 'lucide-react';
import { type FormEvent, type ReactNode, useRef, useState } from 'react';
import { Button } from './button.tsx';
import { classNames } from './class-names.ts';
import { TextField } from './text-field.tsx';

interface DialogProps {
  readonly open: boolean;
  readonly onClose: () => void;
  readonly title: ReactNode;
  readonly description?: ReactNode;
  /** Buttons at its foot, the one that does it last. */
  readonly footer?: ReactNode;
  readonly children?: ReactNode;
}

/** What is focused first. */
const FIRST =
  'input:not([type=hidden],:disabled), textarea:not(:disabled), [role=combobox], button:not(:disabled)';

const BACKDROP =
  'fixed inset-0 z-40 bg-scrim transition-opacity duration-150 data-ending-style:opacity-0 data-starting-style:opacity-0';

/** A sheet over the page, that wants to be dealt with first. */
export function Dialog({
  size = 'medium',
  ...props
}: DialogProps & { readonly size?: 'small' | 'medium' | 'large' }) {
  const width = { small: 'max-w-md', medium: 'max-w-xl', large: 'max-w-4xl' }[size];
  return (
    <Sheet
      {...props}
      className={classNames(
        'fixed top-1/2 left-1/2 max-h-[calc(100dvh-2rem)] w-[calc(100vw-2rem)] -translate-x-1/2 -translate-y-1/2 rounded-lg',
        'transition-[opacity,scale] duration-150 data-ending-style:scale-98 data-ending-style:opacity-0 data-starting-style:scale-98 data-starting-style:opacity-0',
        width,
      )}
    />
  );
}

/** A sheet that comes from the side: for forms and details beside a list. */
export function Drawer({ size = 'medium', ...props }: DialogProps & { readonly size?: 'medium' | 'large' }) {
  return (
    <Sheet
      {...props}
      className={classNames(
        'fixed inset-y-0 right-0 w-full transition-[translate] duration-200 ease-out',
        'data-ending-style:translate-x-full data-starting-style:translate-x-full',
        size === 'large' ? 'max-w-3xl' : 'max-w-lg',
      )}
    />
  );
}

function Sheet({
  open,
  onClose,
  title,
  description,
  footer,
  children,
  className,
}: DialogProps & { readonly className: string }) {
  const body = useRef<HTMLDivElement>(null);
  return (
    <Base.Root open={open} onOpenChange={(next) => !next && onClose()}>
      <Base.Portal>
        <Base.Backdrop className={BACKDROP} />
        <Base.Popup
          // The first field, or the first button, rather than the sign that closes it; no keyboard pops up on phones.
          initialFocus={(by) =>
            by === 'touch' ? true : (body.current?.querySelector<HTMLElement>(FIRST) ?? true)
          }
          className={classNames(
            'z-50 flex flex-col border border-line bg-raised shadow-raised outline-none',
            className,
          )}
        >
          <header className="flex items-start gap-3 border-b border-line px-5 py-3.5">
            <div className="min-w-0 flex-1">
              <Base.Title className="text-lg font-semibold">{title}</Base.Title>
              {description !== undefined && (
                <Base.Description className="mt-0.5 text-soft">{description}</Base.Description>
              )}
            </div>
            <Base.Close
              aria-label="Close"
              className="-mr-2 flex size-8 items-center justify-center rounded-md text-soft hover:bg-sunken hover:text-ink"
            >
              <X aria-hidden size={17} />
            </Base.Close>
          </header>
          {children !== undefined && (
            <div ref={body} className="min-h-0 flex-1 overflow-y-auto overscroll-contain px-5 py-4">
              {children}
            </div>
          )}
          {footer !== undefined && (
            <footer className="flex flex-wrap justify-end gap-2 border-t border-line px-5 py-3">
              {footer}
            </footer>
          )}
        </Base.Popup>
      </Base.Portal>
    </Base.Root>
  );
}

/** Asks once more before something is done. With `typed`, that word has to be written first. */
export function ConfirmDialog({
  open,
  onClose,
  onConfirm,
  title,
  children,
  confirm,
  danger = false,
  busy = false,
  typed,
}: {
  readonly open: boolean;
  readonly onClose: () => void;
  readonly onConfirm: () => void;
  readonly title: string;
  /** What will happen, and what will not. */
  readonly children: ReactNode;
  /** What the button says, such as "Revoke key". */
  readonly confirm: string;
  readonly danger?: boolean;
  readonly busy?: boolean;
  readonly typed?: string;
}) {
  const [written, setWritten] = useState('');
  const close = () => {
    setWritten('');
    onClose();
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    onConfirm();
  };
  return (
    <Dialog open={open} onClose={close} title={title} size="small">
      <form onSubmit={submit}>
        <div className="space-y-3">{children}</div>
        {typed !== undefined && (
          <TextField
            className="mt-4"
            label={
              <>
                Type <code className="font-mono">{typed}</code> to go on
              </>
            }
            value={written}
            onChange={setWritten}
            autoComplete="off"
          />
        )}
        <div className="mt-5 flex flex-wrap justify-end gap-2">
          <Button onClick={close}>Keep as it is</Button>
          <Button
            type="submit"
            look={danger ? 'danger' : 'primary'}
            busy={busy}
            disabled={typed !== undefined && written !== typed}
          >
            {confirm}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
