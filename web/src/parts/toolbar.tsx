import { type LucideIcon, Search, X } from 'lucide-react';
import { type ComponentProps, type ReactNode, type RefObject, useEffect, useRef, useState } from 'react';
import { classNames } from './class-names.ts';
import { INPUT } from './text-field.tsx';

/** What stands above a list: search, filters, acts. */
export function Toolbar({ children }: { readonly children: ReactNode }) {
  return (
    <div role="toolbar" className="mb-3 flex flex-wrap items-center gap-2">
      {children}
    </div>
  );
}

/**
 * What is written into a search: told of when it has been still for a while, or at once by `tell`; and what the address
 * says by other means, back or a chip. `settleMs` is null for what asks for nothing yet.
 */
export function useWritten(
  value: string,
  onSearch: (query: string) => void,
  settleMs: (query: string) => number | null,
) {
  const [written, write] = useState(value);
  const told = useRef(value);
  const query = written.trim();
  const wait = settleMs(query);
  useEffect(() => {
    if (value === told.current) return;
    told.current = value;
    write(value);
  }, [value]);
  useEffect(() => {
    if (query === told.current.trim() || wait === null) return;
    const timer = setTimeout(() => {
      told.current = query;
      onSearch(query);
    }, wait);
    return () => clearTimeout(timer);
  }, [query, wait, onSearch]);
  const tell = (text: string) => {
    told.current = text.trim();
    write(text);
    onSearch(text.trim());
  };
  return { written, write, tell };
}

/** The look of a search, to which `/` goes: its sign, its field, and what clears it. */
export function SearchBox({
  label,
  field,
  value,
  onClear,
  children,
  ...input
}: Omit<ComponentProps<'input'>, 'value'> & {
  readonly label: string;
  readonly field: RefObject<HTMLInputElement | null>;
  readonly value: string;
  readonly onClear: () => void;
}) {
  return (
    <search className="relative min-w-0 flex-1 basis-64">
      <Search
        aria-hidden
        size={15}
        className="pointer-events-none absolute inset-y-0 left-2.5 my-auto text-soft"
      />
      <input
        ref={field}
        data-search
        type="text"
        inputMode="search"
        enterKeyHint="search"
        autoComplete="off"
        autoCapitalize="off"
        spellCheck={false}
        aria-label={label}
        value={value}
        {...input}
        className={classNames(INPUT, 'h-8.5 pr-9 pl-8')}
      />
      {value === '' ? (
        <kbd
          aria-hidden
          className="pointer-events-none absolute inset-y-0 right-2 my-auto hidden h-5 items-center rounded-sm border border-line px-1.5 font-mono text-xs text-faint sm:flex"
        >
          /
        </kbd>
      ) : (
        <button
          type="button"
          aria-label="Clear search"
          onClick={() => {
            onClear();
            field.current?.focus();
          }}
          className="absolute inset-y-0 right-1.5 my-auto flex size-6 items-center justify-center rounded-sm text-soft hover:bg-sunken"
        >
          <X aria-hidden size={14} />
        </button>
      )}
      {children}
    </search>
  );
}

/** The page's search. It tells of what is typed when that has been still, and at once on Enter. */
export function SearchField({
  label,
  value,
  onSearch,
  placeholder = label,
  settleMs = 300,
}: {
  readonly label: string;
  readonly value: string;
  readonly onSearch: (value: string) => void;
  readonly placeholder?: string;
  readonly settleMs?: number;
}) {
  const { written, write, tell } = useWritten(value, onSearch, () => settleMs);
  const field = useRef<HTMLInputElement>(null);
  return (
    <SearchBox
      label={label}
      field={field}
      placeholder={placeholder}
      value={written}
      onClear={() => tell('')}
      onChange={({ target }) => write(target.value)}
      onKeyDown={({ key }) => {
        if (key === 'Enter') tell(written);
        else if (key === 'Escape') written === '' ? field.current?.blur() : tell('');
      }}
    />
  );
}

/** Filters of which one or several hold, as words to press. */
export function FilterChips<Value extends string>({
  label,
  choices,
  value,
  onChange,
}: {
  readonly label: string;
  readonly choices: readonly { readonly value: Value; readonly label: ReactNode; readonly count?: number }[];
  readonly value: readonly Value[];
  readonly onChange: (value: readonly Value[]) => void;
}) {
  return (
    <fieldset aria-label={label} className="flex min-w-auto flex-wrap gap-1.5">
      {choices.map((choice) => {
        const on = value.includes(choice.value);
        return (
          <button
            key={choice.value}
            type="button"
            aria-pressed={on}
            onClick={() =>
              onChange(on ? value.filter((other) => other !== choice.value) : [...value, choice.value])
            }
            className={classNames(
              'inline-flex h-7.5 items-center gap-1.5 rounded-full border px-3 text-sm whitespace-nowrap transition-colors',
              on
                ? 'border-accent bg-accent-soft font-medium text-accent'
                : 'border-edge/50 bg-surface text-soft hover:border-edge hover:text-ink',
            )}
          >
            {choice.label}
            {choice.count !== undefined && (
              <span className="text-xs">{choice.count.toLocaleString('en-US')}</span>
            )}
          </button>
        );
      })}
    </fieldset>
  );
}

/** A few choices of which one holds, side by side: ranges, views. Keep which in the page's URL. */
export function Segments<Value extends string>({
  label,
  choices,
  value,
  onChange,
}: {
  /** What is chosen, read aloud. */
  readonly label: string;
  readonly choices: readonly { readonly value: Value; readonly label: string; readonly icon?: LucideIcon }[];
  readonly value: Value;
  readonly onChange: (value: Value) => void;
}) {
  return (
    <fieldset
      aria-label={label}
      className="inline-flex min-w-auto rounded-md border border-line bg-sunken p-0.5"
    >
      {choices.map((choice) => (
        <button
          key={choice.value}
          type="button"
          aria-pressed={choice.value === value}
          {...(choice.icon && { 'aria-label': choice.label, title: choice.label })}
          onClick={() => onChange(choice.value)}
          className={classNames(
            'h-6.5 rounded-sm px-2.5 text-sm whitespace-nowrap',
            choice.value === value
              ? 'border border-edge/50 bg-surface font-medium text-ink'
              : 'border border-transparent text-soft hover:text-ink',
          )}
        >
          {choice.icon ? <choice.icon aria-hidden size={15} /> : choice.label}
        </button>
      ))}
    </fieldset>
  );
}

/** Something that holds, such as a filter, and what takes it away. */
export function Chip({
  label,
  onRemove,
  children,
}: {
  /** What it is, read aloud. */
  readonly label: string;
  readonly onRemove: () => void;
  readonly children: ReactNode;
}) {
  return (
    <span className="inline-flex h-7.5 max-w-full items-center gap-1 rounded-full border border-accent bg-accent-soft pr-1 pl-3 text-sm text-accent">
      {children}
      <button
        type="button"
        aria-label={`Remove ${label}`}
        onClick={onRemove}
        className="flex size-5.5 shrink-0 items-center justify-center rounded-full hover:bg-surface"
      >
        <X aria-hidden size={13} />
      </button>
    </span>
  );
}
