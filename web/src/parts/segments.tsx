import { classNames } from './class-names.ts';

/** A few choices of which one holds, side by side: ranges, views. Keep which in the page's URL. */
export function Segments<Value extends string>({
  label,
  choices,
  value,
  onChange,
}: {
  /** What is chosen, read aloud. */
  readonly label: string;
  readonly choices: readonly { readonly value: Value; readonly label: string }[];
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
          onClick={() => onChange(choice.value)}
          className={classNames(
            'h-6.5 rounded-sm px-2.5 text-sm whitespace-nowrap',
            choice.value === value
              ? 'border border-edge/50 bg-surface font-medium text-ink'
              : 'border border-transparent text-soft hover:text-ink',
          )}
        >
          {choice.label}
        </button>
      ))}
    </fieldset>
  );
}
