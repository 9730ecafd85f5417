import { Dialog as Base } from '@base-ui/react/dialog';
import { X } from 'lucide-react';
import { type ReactNode, useRef } from 'react';
import { classNames } from './class-names.ts';
import { useOverPage } from './over-page.ts';

interface DialogProps {
  readonly kind?: 'dialog' | 'drawer';
  readonly size?: 'small' | 'medium' | 'large';
  readonly open?: boolean;
  /** Without it only what it holds closes it. */
  readonly onClose?: (() => void) | undefined;
  readonly title?: ReactNode;
  readonly description?: ReactNode;
  /** Buttons at its foot, the one that does it last. */
  readonly footer?: ReactNode;
  readonly children?: ReactNode;
}

/** What is focused first: not what stands in the head. */
const FIRST =
  'header ~ * :is(input:not([hidden],[type=hidden],:disabled), textarea:not(:disabled), [role=combobox], button:not(:disabled))';

const BACKDROP =
  'fixed inset-0 z-40 bg-scrim transition-opacity duration-150 data-ending-style:opacity-0 data-starting-style:opacity-0';

const LOOKS = {
  dialog:
    'fixed top-1/2 left-1/2 max-h-[calc(100dvh-2rem)] w-[calc(100vw-2rem)] -translate-x-1/2 -translate-y-1/2 rounded-lg transition-[opacity,scale] duration-150 data-ending-style:scale-98 data-ending-style:opacity-0 data-starting-style:scale-98 data-starting-style:opacity-0',
  drawer:
    'fixed inset-y-0 right-0 w-full transition-[translate] duration-200 ease-out data-ending-style:translate-x-full data-starting-style:translate-x-full',
};
const WIDTHS = {
  dialog: { small: 'max-w-md', medium: 'max-w-xl', large: 'max-w-4xl' },
  drawer: { small: 'max-w-md', medium: 'max-w-lg', large: 'max-w-3xl' },
};

/** A sheet over the page, that wants to be dealt with first; a drawer comes from the side, beside a list. */
export function Dialog({
  kind = 'dialog',
  size = 'medium',
  open = true,
  onClose,
  title,
  description,
  footer,
  children,
}: DialogProps) {
  const sheet = useRef<HTMLDivElement>(null);
  useOverPage(open);
  return (
    <Base.Root open={open} onOpenChange={(next) => !next && onClose?.()}>
      <Base.Portal>
        <Base.Backdrop className={BACKDROP} />
        <Base.Popup
          ref={sheet}
          // The first field, or the first button, rather than the sign that closes it; no keyboard pops up on phones.
          initialFocus={(by) =>
            by === 'touch' ? true : (sheet.current?.querySelector<HTMLElement>(FIRST) ?? true)
          }
          className={classNames(
            'z-50 flex flex-col border border-line bg-raised shadow-raised outline-none',
            LOOKS[kind],
            WIDTHS[kind][size],
          )}
        >
          <header className="flex items-start gap-3 border-b border-line px-5 py-3.5">
            <div className="min-w-0 flex-1">
              <Base.Title className="text-lg font-semibold">{title}</Base.Title>
              {description != null && (
                <Base.Description className="mt-0.5 text-soft">{description}</Base.Description>
              )}
            </div>
            {onClose && (
              <Base.Close
                aria-label="Close"
                className="-mr-2 flex size-8 items-center justify-center rounded-md text-soft hover:bg-sunken hover:text-ink"
              >
                <X aria-hidden size={17} />
              </Base.Close>
            )}
          </header>
          {children !== undefined && (
            <div className="min-h-0 flex-1 overflow-y-auto overscroll-contain px-5 py-4">{children}</div>
          )}
          {footer && (
            <footer className="flex flex-wrap justify-end gap-2 border-t border-line px-5 py-3">
              {footer}
            </footer>
          )}
        </Base.Popup>
      </Base.Portal>
    </Base.Root>
  );
}
