import { type KeyboardEvent, useEffect, useId, useMemo, useRef, useState } from 'react';
import { classNames } from '../../parts/class-names.ts';
import { SearchBox, useWritten } from '../../parts/toolbar.tsx';
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
  const { written, write, tell } = useWritten(value, onSearch, settleMs);
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
    <SearchBox
      label="Search messages"
      field={field}
      role="combobox"
      aria-expanded={isOpen}
      aria-controls={listId}
      aria-autocomplete="list"
      aria-activedescendant={isOpen && active >= 0 ? `${listId}-${active}` : undefined}
      maxLength={500}
      placeholder="Search words, or to: from: subject: status: …"
      value={written}
      onClear={() => tell('')}
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
    >
      <div
        id={listId}
        role="listbox"
        aria-label="Suggestions"
        hidden={!isOpen}
        className="absolute inset-x-0 top-full z-20 mt-1 max-h-90 overflow-y-auto rounded-md border border-line bg-raised p-1 shadow-raised"
      >
        {isOpen &&
          suggestions.map((suggestion, index) => (
            // biome-ignore lint/a11y/useFocusableInteractive: the field keeps the focus
            // biome-ignore lint/a11y/useKeyWithClickEvents: keys act in the field
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
    </SearchBox>
  );
}

/** How long typing has to rest before a search. The name of a token alone asks for nothing yet. */
function settleMs(query: string): number | null {
  if (/(?:^|\s)-?[a-z]+:$/i.test(query)) return null;
  // Its last word could become the name of a token.
  const last = /(?:^|\s)-?([a-z]+)$/i.exec(query)?.[1]?.toLowerCase();
  const beginsToken = last !== undefined && Object.keys(TOKENS).some((token) => token.startsWith(last));
  return beginsToken ? SETTLE_TOKEN_MS : SETTLE_MS;
}
