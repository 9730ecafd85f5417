import { Check, Minus } from 'lucide-react';
import { type ReactNode, useId } from 'react';

/** One of several things that may be ticked together. Without `children` its label is read aloud only. */
export function Checkbox({
  label,
  children,
  hint,
  checked,
  mixed = false,
  onChange,
}: {
  readonly label: string;
  readonly children?: ReactNode;
  readonly hint?: ReactNode;
  readonly checked: boolean;
  /** Some of what it stands for is ticked. */
  readonly mixed?: boolean;
  readonly onChange: (checked: boolean) => void;
}) {
  const id = useId();
  const Tick = mixed ? Minus : Check;
  return (
    <div className="flex items-start gap-2">
      <span className="relative mt-0.5 flex size-4 shrink-0 text-on-accent">
        <input
          type="checkbox"
          ref={(box) => {
            if (box !== null) box.indeterminate = mixed;
          }}
          aria-label={label}
          aria-describedby={hint === undefined ? undefined : `${id}-hint`}
          checked={checked}
          onChange={({ target }) => onChange(target.checked)}
          className="size-4 appearance-none rounded-sm border border-edge bg-surface checked:border-accent checked:bg-accent indeterminate:border-accent indeterminate:bg-accent"
        />
        {(checked || mixed) && (
          <Tick aria-hidden size={12} strokeWidth={3} className="pointer-events-none absolute inset-0.5" />
        )}
      </span>
      {children !== undefined && (
        <div className="min-w-0">
          <button
            type="button"
            tabIndex={-1}
            aria-hidden
            className="text-left"
            onClick={() => onChange(!checked)}
          >
            {children}
          </button>
          {hint !== undefined && (
            <div id={`${id}-hint`} className="text-sm text-soft">
              {hint}
            </div>
          )}
        </div>
      )}
    </div>
  );
}
