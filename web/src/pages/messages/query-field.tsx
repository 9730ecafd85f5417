import { Search, X } from 'lucide-react';
import { type KeyboardEvent, useEffect, useId, useMemo, useRef, useState } from 'react';
import { classNames } from '../../parts/class-names.ts';
import { INPUT } from '../../parts/text-field.tsx';
import { type KnownValues, type Suggestion, suggest, TOKENS } from './query-text.ts';

/** Typing has come to a rest after this time; later where a token may be about to be written. */
const SETTLE_MS = 350;
const SETTLE_TOKEN_MS = 1_500;

/** The search of messages: words and tokens, with what could be typed next. `/` goes to it. */
export function QueryField({
  value,
  begun,
  known,
  onSearch,
}: {
  readonly value: string;
  /** A token that was chosen elsewhere, to be gone on with here; another object begins anew. */
  readonly begun: { readonly token: string } | null;
  readonly known: KnownValues;
  readonly onSearch: (query: string) => void;
}) {
  const { written, write, tell } = useWritten(value, onSearch);
  const [caret, setCaret] = useState(0);
  const [open, setOpen] = useState(false);
  const [active, setActive] = useState(-1);
  const field = useRef<HTMLInputElement>(null);
  const listId = useId();
  const suggestions = useMemo(() => suggest(written, caret, known), [written, caret, known]);
  const isOpen = open && suggestions.length > 0;
  // biome-ignore lint/correctness/useExhaustiveDependencies: what is written may change without beginning again
  useEffect(() => {
    if (begun === null) return;
    const text = `${written.trim()} ${begun.token}:`.trimStart();
    write(text);
    setCaret(text.length);
    setOpen(true);
    field.current?.focus();
  }, [begun]);
  const close = () => {
    setOpen(false);
    setActive(-1);
  };
  const take = (suggestion: Suggestion) => {
    if (suggestion.complete) tell(suggestion.text);
    else write(suggestion.text);
    setActive(-1);
    setCaret(suggestion.caret);
    setOpen(!suggestion.complete);
    requestAnimationFrame(() => {
      field.current?.focus();
      field.current?.setSelectionRange(suggestion.caret, suggestion.caret);
    });
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const chosen = isOpen ? suggestions[active] : undefined;
    if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
      if (suggestions.length === 0) return;
      setOpen(true);
      const step = event.key === 'ArrowDown' ? 1 : -1;
      setActive((isOpen ? active + step + suggestions.length : 0) % suggestions.length);
    } else if (event.key === 'Enter' || (event.key === 'Tab' && chosen)) {
      if (chosen) take(chosen);
      else {
        tell(written.trim());
        close();
      }
    } else if (event.key === 'Escape') {
      if (isOpen) close();
      else if (written === '') field.current?.blur();
      else tell('');
    } else return;
    event.preventDefault();
  };
  return (
    <search className="relative min-w-0 flex-1 basis-72">
      <Search
        aria-hidden
        size={15}
        className="pointer-events-none absolute inset-y-0 left-2.5 my-auto text-soft"
      />
      <input
        ref={field}
        data-search
        type="text"
        role="combobox"
        aria-label="Search messages"
        aria-expanded={isOpen}
        aria-controls={listId}
        aria-autocomplete="list"
        aria-activedescendant={isOpen && active >= 0 ? `${listId}-${active}` : undefined}
        inputMode="search"
        enterKeyHint="search"
        autoComplete="off"
        autoCapitalize="off"
        spellCheck={false}
        maxLength={500}
        placeholder="Search words, or to: from: subject: status: …"
        value={written}
        onChange={({ target }) => {
          write(target.value);
          setCaret(target.selectionStart ?? target.value.length);
          setOpen(true);
          setActive(-1);
        }}
        onSelect={({ currentTarget }) => setCaret(currentTarget.selectionStart ?? 0)}
        onClick={() => setOpen(true)}
        onBlur={close}
        onKeyDown={onKeyDown}
        className={classNames(INPUT, 'h-9 pr-9 pl-8')}
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
      <div
        id={listId}
        role="listbox"
        aria-label="Suggestions"
        hidden={!isOpen}
        className="absolute inset-x-0 top-full z-20 mt-1 max-h-90 overflow-y-auto rounded-md border border-line bg-raised p-1 shadow-raised"
      >
        {isOpen &&
          suggestions.map((suggestion, index) => (
            // The field keeps the focus; keys act there.
            // biome-ignore lint/a11y/useFocusableInteractive: see above
            // biome-ignore lint/a11y/useKeyWithClickEvents: see above
            <div
              key={suggestion.label}
              id={`${listId}-${index}`}
              role="option"
              aria-selected={index === active}
              onPointerDown={(event) => event.preventDefault()}
              onClick={() => take(suggestion)}
              className={classNames(
                'flex cursor-pointer items-baseline gap-3 rounded-sm px-2 py-1.5 hover:bg-accent-soft',
                index === active && 'bg-accent-soft',
              )}
            >
              <span className="shrink-0 truncate font-mono text-sm">{suggestion.label}</span>
              <span className="min-w-0 truncate text-sm text-soft">{suggestion.hint}</span>
            </div>
          ))}
      </div>
    </search>
  );
}

/** Its last word could become the name of a token. */
function beginsToken(query: string): boolean {
  const last = /(?:^|\s)-?([a-z]+)$/i.exec(query)?.[1]?.toLowerCase();
  return last !== undefined && Object.keys(TOKENS).some((token) => token.startsWith(last));
}

/** What is written, told of when it has been still for a moment, or at once; and what the address says by other means. */
function useWritten(value: string, onSearch: (query: string) => void) {
  const [written, write] = useState(value);
  const told = useRef(value);
  useEffect(() => {
    if (value === told.current) return;
    told.current = value;
    write(value);
  }, [value]);
  useEffect(() => {
    // The name of a token alone asks for nothing yet.
    const query = written.trim();
    if (query === told.current.trim() || /(?:^|\s)-?[a-z]+:$/i.test(query)) return;
    const wait = setTimeout(
      () => {
        told.current = query;
        onSearch(query);
      },
      beginsToken(query) ? SETTLE_TOKEN_MS : SETTLE_MS,
    );
    return () => clearTimeout(wait);
  }, [written, onSearch]);
  const tell = (query: string) => {
    told.current = query.trim();
    write(query);
    onSearch(query.trim());
  };
  return { written, write, tell };
}
