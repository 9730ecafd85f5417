import { Select as BaseSelect } from '@base-ui/react/select';
import { Check, ChevronsUpDown, X } from 'lucide-react';
import { type KeyboardEvent, useState } from 'react';
import { classNames } from './class-names.ts';
import { Field, type FieldProps, INPUT } from './text-field.tsx';

/** One of the things to choose from. */
export interface Choice<Value extends string = string> {
  readonly value: Value;
  readonly label: string;
  /** A line on what it means. */
  readonly note?: string;
}

const POPUP =
  'max-h-(--available-height) min-w-(--anchor-width) max-w-sm overflow-y-auto rounded-md border border-line bg-raised p-1 shadow-raised outline-none';
const ITEM =
  'grid grid-cols-[1rem_minmax(0,1fr)] items-start gap-2 rounded-sm px-2 py-1.5 select-none outline-none data-highlighted:bg-accent-soft data-disabled:opacity-50';

/** One of a few, from a list that opens. */
export function Select<Value extends string>({
  label,
  hint,
  error,
  className,
  choices: given,
  value,
  onChange,
  disabled = false,
  bare = false,
}: FieldProps & {
  /** A word alone is its own label. */
  readonly choices: readonly (Value | Choice<Value>)[];
  readonly value: Value;
  readonly onChange: (value: Value) => void;
  readonly disabled?: boolean;
  /** The label is read aloud only: in toolbars. */
  readonly bare?: boolean;
}) {
  const choices = given.map(
    (choice): Choice<Value> => (typeof choice === 'string' ? { value: choice, label: choice } : choice),
  );
  const control = (ids: { id?: string; 'aria-label'?: string }) => (
    <BaseSelect.Root
      items={choices}
      value={value}
      onValueChange={(next) => next !== null && onChange(next)}
      disabled={disabled}
    >
      <BaseSelect.Trigger
        {...ids}
        className={classNames(
          INPUT,
          'flex items-center justify-between gap-2 text-left',
          bare ? 'h-8.5' : 'h-9',
        )}
      >
        <BaseSelect.Value className="truncate" />
        <BaseSelect.Icon>
          <ChevronsUpDown aria-hidden size={14} className="text-soft" />
        </BaseSelect.Icon>
      </BaseSelect.Trigger>
      <BaseSelect.Portal>
        <BaseSelect.Positioner sideOffset={4} alignItemWithTrigger={false} className="z-60 outline-none">
          <BaseSelect.Popup className={POPUP}>
            <BaseSelect.List>
              {choices.map((choice) => (
                <BaseSelect.Item key={choice.value} value={choice.value} className={ITEM}>
                  <span className="flex h-5 items-center">
                    <BaseSelect.ItemIndicator>
                      <Check aria-hidden size={14} />
                    </BaseSelect.ItemIndicator>
                  </span>
                  <span>
                    <BaseSelect.ItemText>{choice.label}</BaseSelect.ItemText>
                    {choice.note !== undefined && (
                      <span className="block text-sm text-soft">{choice.note}</span>
                    )}
                  </span>
                </BaseSelect.Item>
              ))}
            </BaseSelect.List>
          </BaseSelect.Popup>
        </BaseSelect.Positioner>
      </BaseSelect.Portal>
    </BaseSelect.Root>
  );
  if (bare)
    return (
      <div className={className}>
        {control({ ...(typeof label === 'string' && { 'aria-label': label }) })}
      </div>
    );
  return (
    <Field label={label} hint={hint} error={error} className={className}>
      {control}
    </Field>
  );
}

/** Shows what is of one name, or of every; a name that is gone stays until another is chosen. */
export function NameFilter({
  label,
  every,
  names = [],
  value,
  onChange,
}: {
  readonly label: string;
  readonly every: string;
  readonly names: readonly string[] | undefined;
  readonly value: string | undefined;
  readonly onChange: (name: string | undefined) => void;
}) {
  const all = new Set([...names, ...(value === undefined ? [] : [value])]);
  return (
    <Select
      bare
      label={label}
      className="w-48 max-w-full"
      value={value ?? ''}
      onChange={(name) => onChange(name || undefined)}
      choices={[{ value: '', label: every }, ...all]}
    />
  );
}

/** Any number of texts, such as address ranges: Enter or a comma ends one, and a space, unless they are `phrases`. */
export function ListField({
  label,
  hint,
  error,
  className,
  value,
  onChange,
  placeholder,
  phrases = false,
}: FieldProps & {
  readonly value: readonly string[];
  readonly onChange: (value: readonly string[]) => void;
  readonly placeholder?: string;
  /** There may be spaces in them. */
  readonly phrases?: boolean;
}) {
  const [written, setWritten] = useState('');
  const add = (raw: string) => {
    const items = raw
      .split(phrases ? /[\n,]+/ : /[\s,]+/)
      .map((item) => item.trim())
      .filter((item) => item !== '' && !value.includes(item));
    if (items.length > 0) onChange([...value, ...items]);
    setWritten('');
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if ((event.key === 'Enter' && written !== '') || event.key === ',' || (event.key === ' ' && !phrases)) {
      event.preventDefault();
      add(written);
    } else if (event.key === 'Backspace' && written === '') onChange(value.slice(0, -1));
  };
  return (
    <Field label={label} hint={hint} error={error} className={className}>
      {(ids) => (
        <div
          className={classNames(
            INPUT,
            'flex min-h-9 flex-wrap items-center gap-1 py-1 focus-within:outline-2 focus-within:outline-accent',
          )}
        >
          {value.map((item) => (
            <span
              key={item}
              className="inline-flex items-center gap-1 rounded-sm bg-sunken py-px pl-1.5 font-mono text-sm"
            >
              {item}
              <button
                type="button"
                aria-label={`Remove ${item}`}
                onClick={() => onChange(value.filter((other) => other !== item))}
                className="flex size-5 items-center justify-center rounded-sm text-soft hover:text-ink"
              >
                <X aria-hidden size={12} />
              </button>
            </span>
          ))}
          <input
            {...ids}
            value={written}
            placeholder={value.length === 0 ? placeholder : undefined}
            onChange={(event) => setWritten(event.target.value)}
            onKeyDown={onKeyDown}
            onBlur={() => written !== '' && add(written)}
            onPaste={(event) => {
              event.preventDefault();
              add(written + event.clipboardData.getData('text'));
            }}
            className="h-6.5 min-w-24 flex-1 bg-transparent font-mono text-sm outline-none"
          />
        </div>
      )}
    </Field>
  );
}
