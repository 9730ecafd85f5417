import { type KeyboardEvent, type Ref, type UIEvent, useId, useImperativeHandle, useRef } from 'react';
import { classNames } from '../../parts/class-names.ts';

/** Something to be said about a line. */
export interface LineNote {
  /** From 1; null where the place is not known. */
  readonly line: number | null;
  readonly detail: string;
}

/** What moves the caret of a {@link CodeField}. */
export interface CodeHandle {
  /** Selects a line, and scrolls it into sight. */
  readonly goTo: (line: number) => void;
}

/** Longer texts are shown without colours, so that typing stays quick. */
const MAX_COLOURED = 100_000;
/** A name in a template, or what opens or ends a section. */
const TAG = /\{\{\{?[^{}\n]{1,200}\}?\}\}/g;

/**
 * Lines of code: numbered, with the tags of templates tinted and faulty lines marked. It is the browser's own text field,
 * whose undo, search, spelling and reading aloud work as everywhere; behind it lies a sheet that has the same text.
 * Tab leaves it, as any field.
 */
export function CodeField({
  label,
  value,
  onChange,
  notes = [],
  readOnly = false,
  placeholder,
  hint,
  handle,
}: {
  readonly label: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
  /** What is wrong, by line. */
  readonly notes?: readonly LineNote[];
  readonly readOnly?: boolean;
  readonly placeholder?: string;
  readonly hint?: string;
  readonly handle?: Ref<CodeHandle>;
}) {
  const id = useId();
  const field = useRef<HTMLTextAreaElement>(null);
  const numbers = useRef<HTMLDivElement>(null);
  const sheet = useRef<HTMLDivElement>(null);
  const goTo = (line: number) => {
    const area = field.current;
    if (!area) return;
    const lines = value.split('\n');
    const start = lines.slice(0, line - 1).reduce((sum, { length }) => sum + length + 1, 0);
    area.focus();
    area.setSelectionRange(start, start + (lines[line - 1]?.length ?? 0));
    const height = Number.parseFloat(getComputedStyle(area).lineHeight);
    area.scrollTop = Math.max(0, (line - 4) * height);
    area.scrollLeft = 0;
  };
  useImperativeHandle(handle, () => ({ goTo }));
  const onScroll = ({ currentTarget: { scrollTop, scrollLeft } }: UIEvent<HTMLElement>) => {
    if (numbers.current) numbers.current.style.translate = `0 ${-scrollTop}px`;
    if (sheet.current) sheet.current.style.translate = `${-scrollLeft}px ${-scrollTop}px`;
  };
  const faulty = [...new Set(notes.map(({ line }) => line))].filter((line) => line !== null);
  const described = [notes.length > 0 && `${id}-notes`, hint !== undefined && `${id}-hint`].filter(Boolean);
  return (
    <div className="min-w-0">
      <div
        className={classNames(
          'flex h-[calc(100dvh-25rem)] max-h-[44rem] min-h-72 resize-y overflow-hidden rounded-md border bg-surface font-mono text-sm leading-6',
          'focus-within:outline-2 focus-within:outline-accent pointer-coarse:max-sm:text-[16px]',
          notes.length > 0 ? 'border-failed' : 'border-edge',
        )}
      >
        <div aria-hidden className="shrink-0 overflow-hidden border-r border-line bg-paper select-none">
          <div ref={numbers} className="relative min-h-full">
            <pre className="min-w-9 px-2 py-2 text-right text-faint">{numbersOf(value)}</pre>
            {faulty.map((line) => (
              <div
                key={line}
                className="absolute inset-x-0 bg-failed-soft px-2 text-right font-semibold text-failed"
                style={topOf(line)}
              >
                {line}
              </div>
            ))}
          </div>
        </div>
        <div className="relative min-w-0 flex-1 overflow-hidden">
          <div ref={sheet} aria-hidden className="pointer-events-none absolute inset-0">
            {faulty.map((line) => (
              <div key={line} className="absolute left-0 h-6 w-[9999px] bg-failed-soft" style={topOf(line)} />
            ))}
            {value.length <= MAX_COLOURED && (
              <pre className="relative w-max min-w-full px-3 py-2 text-transparent [tab-size:2]">
                <Tinted text={value} />
              </pre>
            )}
          </div>
          <textarea
            ref={field}
            aria-label={label}
            aria-describedby={described.length > 0 ? described.join(' ') : undefined}
            aria-invalid={notes.length > 0 || undefined}
            value={value}
            onChange={({ target }) => onChange(target.value)}
            onKeyDown={keepIndent}
            onScroll={onScroll}
            readOnly={readOnly}
            placeholder={placeholder}
            wrap="off"
            spellCheck={false}
            autoComplete="off"
            autoCapitalize="none"
            className="absolute inset-0 h-full w-full resize-none overflow-auto bg-transparent px-3 py-2 whitespace-pre text-ink outline-none [tab-size:2]"
          />
        </div>
      </div>
      {notes.length > 0 && (
        <ul id={`${id}-notes`} className="mt-2 space-y-1 text-sm">
          {notes.map(({ line, detail }, place) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: a line may have the same fault twice
            <li key={place} className="flex gap-2 text-failed">
              {line !== null && (
                <button type="button" onClick={() => goTo(line)} className="link shrink-0 rounded-sm">
                  Line {line}
                </button>
              )}
              <span className="min-w-0 break-words">{detail}</span>
            </li>
          ))}
        </ul>
      )}
      {hint !== undefined && (
        <p id={`${id}-hint`} className="mt-2 text-sm text-soft">
          {hint}
        </p>
      )}
    </div>
  );
}

/** Where a line stands; its height is that of `leading-6`, and `py-2` is above the first. */
function topOf(line: number) {
  return { top: `${(line - 1) * 1.5 + 0.5}rem` };
}

function numbersOf(text: string): string {
  const count = text.split('\n').length;
  return Array.from({ length: count }, (_, place) => place + 1).join('\n');
}

/** The text, with a tint behind its tags. */
function Tinted({ text }: { readonly text: string }) {
  let end = 0;
  const parts = [...text.matchAll(TAG)].flatMap(({ 0: tag, index }) => {
    const before = text.slice(end, index);
    end = index + tag.length;
    return [
      before,
      <mark key={index} className="rounded-xs bg-accent-soft text-transparent">
        {tag}
      </mark>,
    ];
  });
  // The last line has its height even if it is empty.
  return [...parts, `${text.slice(end)}\n`];
}

/** A new line begins as far in as the one before. */
function keepIndent(event: KeyboardEvent<HTMLTextAreaElement>): void {
  const { key, shiftKey, nativeEvent, currentTarget: area } = event;
  if (key !== 'Enter' || shiftKey || nativeEvent.isComposing || area.readOnly) return;
  const before = area.value.slice(0, area.selectionStart);
  const [indent = ''] = /^[ \t]*/.exec(before.slice(before.lastIndexOf('\n') + 1)) ?? [];
  if (indent === '') return;
  event.preventDefault();
  // What is written like this can be undone.
  document.execCommand('insertText', false, `\n${indent}`);
}
