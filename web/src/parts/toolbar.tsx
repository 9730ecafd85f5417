import { Search, X } from 'lucide-react';
import { type ReactNode, useEffect, useRef, useState } from 'react';
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

/** The page's search, to which `/` goes. It tells of what is typed when that has been still, and at once on Enter. */
export function SearchField({
  label,
  value,
  onSearch,
  placeholder,
  settleMs = 300,
}: {
  readonly label: string;
  readonly value: string;
  readonly onSearch: (value: string) => void;
  readonly placeholder?: string;
  readonly settleMs?: number;
}) {
  const [written, setWritten] = useState(value);
  const told = useRef(value);
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => {
    // The address changed by other means than typing here: back, or a chip.
    if (value === told.current) return;
    told.current = value;
    setWritten(value);
  }, [value]);
  useEffect(() => {
    if (written === told.current) return;
    const wait = setTimeout(() => {
      told.current = written;
      onSearch(written);
    }, settleMs);
    return () => clearTimeout(wait);
  }, [written, onSearch, settleMs]);
  const tell = (text: string) => {
    told.current = text;
    setWritten(text);
    onSearch(text);
  };
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
        spellCheck={false}
        aria-label={label}
        placeholder={placeholder ?? label}
        value={written}
        onChange={(event) => setWritten(event.target.value)}
        onKeyDown={(event) => {
          if (event.key === 'Enter') tell(written);
          else if (event.key === 'Escape') written === '' ? field.current?.blur() : tell('');
        }}
        className={classNames(INPUT, 'h-8.5 pr-9 pl-8')}
      />
      {written === '' ? (
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
            tell('');
            field.current?.focus();
          }}
          className="absolute inset-y-0 right-1.5 my-auto flex size-6 items-center justify-center rounded-sm text-soft hover:bg-sunken"
        >
          <X aria-hidden size={14} />
        </button>
      )}
    </search>
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
