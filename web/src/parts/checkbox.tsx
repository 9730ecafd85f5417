import { Checkbox as BaseCheckbox } from '@base-ui/react/checkbox';
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
  return (
    <div className="flex items-start gap-2">
      <BaseCheckbox.Root
        aria-label={label}
        aria-describedby={hint === undefined ? undefined : `${id}-hint`}
        checked={checked}
        indeterminate={mixed}
        onCheckedChange={onChange}
        className="mt-0.5 flex size-4 shrink-0 items-center justify-center rounded-sm border border-edge bg-surface data-checked:border-accent data-checked:bg-accent data-indeterminate:border-accent data-indeterminate:bg-accent"
      >
        <BaseCheckbox.Indicator className="text-on-accent data-unchecked:hidden">
          {mixed ? (
            <Minus aria-hidden size={12} strokeWidth={3} />
          ) : (
            <Check aria-hidden size={12} strokeWidth={3} />
          )}
        </BaseCheckbox.Indicator>
      </BaseCheckbox.Root>
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
