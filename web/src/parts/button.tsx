import { Tooltip } from '@base-ui/react/tooltip';
import { Link, type LinkProps } from '@tanstack/react-router';
import { ArrowUp, Download, type LucideIcon } from 'lucide-react';
import type { ComponentProps, ReactNode } from 'react';
import { classNames } from './class-names.ts';

/** How much a button asks for attention. One `primary` a page, or a dialog. */
type Look = 'primary' | 'plain' | 'quiet' | 'danger';

const LOOKS: Readonly<Record<Look, string>> = {
  primary: 'bg-accent text-on-accent border-accent hover:bg-accent-strong hover:border-accent-strong',
  plain: 'bg-surface text-ink border-edge/60 hover:border-edge hover:bg-sunken',
  quiet: 'bg-transparent text-soft border-transparent hover:bg-sunken hover:text-ink',
  danger: 'bg-failed text-surface border-failed hover:brightness-90',
};

function look(kind: Look, small: boolean): string {
  return classNames(
    'inline-flex items-center justify-center gap-1.5 rounded-md border font-medium whitespace-nowrap select-none',
    'transition-colors duration-100 disabled:opacity-50 disabled:pointer-events-none aria-busy:opacity-70',
    small ? 'h-7.5 px-2.5 text-sm' : 'h-9 px-3.5',
    LOOKS[kind],
  );
}

interface Common {
  readonly look?: Look;
  readonly small?: boolean;
  readonly icon?: LucideIcon;
  readonly label: ReactNode;
}

/** A button; what it holds beside its label stands behind that. While `busy` it cannot be pressed again. */
export function Button({
  look: kind = 'plain',
  small = false,
  icon: Icon,
  label,
  busy = false,
  children,
  className,
  disabled,
  type = 'button',
  ...rest
}: Common & { readonly busy?: boolean } & ComponentProps<'button'>) {
  return (
    <button
      {...rest}
      type={type}
      disabled={disabled || busy}
      aria-busy={busy || undefined}
      className={classNames(look(kind, small), className)}
    >
      {busy ? <Spinner /> : Icon && <Icon aria-hidden size={small ? 14 : 16} className="shrink-0" />}
      {label}
      {children}
    </button>
  );
}

/** A link that looks like a button. */
export function ButtonLink({
  look: kind = 'plain',
  small = false,
  icon: Icon,
  label,
  children,
  className,
  ...link
}: Common & LinkProps & { readonly children?: ReactNode; readonly className?: string }) {
  return (
    <Link {...link} className={classNames(look(kind, small), className)}>
      {Icon && <Icon aria-hidden size={small ? 14 : 16} className="shrink-0" />}
      {label}
      {children}
    </Link>
  );
}

/** What has come since, over the head of a list; it is shown when this is pressed, so that no row moves by itself. */
export function FreshButton({ onClick, children }: Pick<ComponentProps<'button'>, 'onClick' | 'children'>) {
  return (
    <button
      type="button"
      onClick={onClick}
      className="pointer-events-auto inline-flex h-8 items-center gap-1.5 rounded-full bg-accent px-3.5 text-sm font-medium text-on-accent shadow-raised hover:bg-accent-strong"
    >
      <ArrowUp aria-hidden size={14} /> {children} new
    </button>
  );
}

/** A button that shows a sign alone; its label is its name, and its tooltip. */
export function IconButton({
  icon: Icon,
  label,
  className,
  small = false,
  ...rest
}: {
  readonly icon: LucideIcon;
  readonly label: string;
  readonly small?: boolean;
} & ComponentProps<'button'>) {
  return (
    <Tooltip.Root>
      <Tooltip.Trigger
        type="button"
        {...rest}
        aria-label={label}
        className={classNames(
          'inline-flex shrink-0 items-center justify-center rounded-md text-soft hover:bg-sunken hover:text-ink',
          'disabled:opacity-50 disabled:pointer-events-none',
          small ? 'size-7.5' : 'size-9',
          className,
        )}
      >
        <Icon aria-hidden size={small ? 15 : 17} />
      </Tooltip.Trigger>
      <Tooltip.Portal>
        <Tooltip.Positioner sideOffset={6} className="z-50">
          <Tooltip.Popup className="max-w-xs rounded-sm bg-ink px-2 py-1 text-xs text-paper transition-opacity data-ending-style:opacity-0 data-starting-style:opacity-0">
            {label}
          </Tooltip.Popup>
        </Tooltip.Positioner>
      </Tooltip.Portal>
    </Tooltip.Root>
  );
}

/** A sign that saves a file. */
export function DownloadLink({ href, name }: { readonly href: string; readonly name: string }) {
  return (
    <a
      href={href}
      download={name}
      aria-label={`Download ${name}`}
      title="Download"
      className="flex size-7.5 shrink-0 items-center justify-center rounded-md text-soft hover:bg-sunken hover:text-ink"
    >
      <Download aria-hidden size={15} />
    </a>
  );
}

/** Something is under way. */
export function Spinner() {
  return (
    <svg aria-hidden="true" viewBox="0 0 16 16" className="size-4 animate-spin">
      <circle cx="8" cy="8" r="6" fill="none" stroke="currentColor" strokeOpacity="0.25" strokeWidth="2" />
      <path d="M8 2a6 6 0 0 1 6 6" fill="none" stroke="currentColor" strokeWidth="2" strokeLinecap="round" />
    </svg>
  );
}
