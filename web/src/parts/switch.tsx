import { Switch as BaseSwitch } from '@base-ui/react/switch';
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
      <BaseSwitch.Root
        checked={checked}
        onCheckedChange={onChange}
        aria-labelledby={id}
        className="mt-px flex h-5 w-9 shrink-0 rounded-full border border-edge bg-sunken p-0.5 transition-colors data-checked:border-accent data-checked:bg-accent"
      >
        <BaseSwitch.Thumb className="size-3.5 rounded-full bg-edge transition-[translate] data-checked:translate-x-4 data-checked:bg-on-accent" />
      </BaseSwitch.Root>
      <div id={id} className="min-w-0 font-medium">
        {label}
      </div>
    </div>
  );
}
