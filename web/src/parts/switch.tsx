import { type ReactNode, useId } from 'react';

// A file of its own: the overview loads it first, and nothing else of the choices.

/** On or off, and it holds at once. */
export function Switch({
  label,
  checked,
  onChange,
}: {
  readonly label: ReactNode;
  readonly checked: boolean;
  readonly onChange: (checked: boolean) => void;
}) {
  const id = useId();
  return (
    <div className="flex items-start gap-3">
      <button
        type="button"
        role="switch"
        aria-checked={checked}
        aria-labelledby={id}
        onClick={() => onChange(!checked)}
        className="group mt-px flex h-5 w-9 shrink-0 rounded-full border border-edge bg-sunken p-0.5 transition-colors aria-checked:border-accent aria-checked:bg-accent"
      >
        <span className="size-3.5 rounded-full bg-edge transition-[translate] group-aria-checked:translate-x-4 group-aria-checked:bg-on-accent" />
      </button>
      <div id={id} className="min-w-0 font-medium">
        {label}
      </div>
    </div>
  );
}
