import { Menu as Base } from '@base-ui/react/menu';
import { Link, type LinkProps } from '@tanstack/react-router';
import { Check, type LucideIcon } from 'lucide-react';
import type { ComponentProps, ReactNode } from 'react';
import { classNames } from './class-names.ts';

const ITEM =
  'flex w-full items-center gap-2.5 rounded-sm px-2 py-1.5 text-left select-none outline-none data-highlighted:bg-accent-soft';

/** A list of acts that opens from a button: `<Menu trigger={<IconButton …/>}><MenuItem …/></Menu>`. */
export function Menu({
  trigger,
  align = 'end',
  children,
}: {
  readonly trigger: ComponentProps<typeof Base.Trigger>['render'];
  readonly align?: 'start' | 'end';
  readonly children: ReactNode;
}) {
  return (
    <Base.Root>
      <Base.Trigger render={trigger} />
      <Base.Portal>
        <Base.Positioner sideOffset={6} align={align} className="z-60 outline-none">
          <Base.Popup className="max-h-(--available-height) min-w-48 overflow-y-auto rounded-md border border-line bg-raised p-1 shadow-raised outline-none transition-opacity data-ending-style:opacity-0 data-starting-style:opacity-0">
            {children}
          </Base.Popup>
        </Base.Positioner>
      </Base.Portal>
    </Base.Root>
  );
}

interface ItemProps {
  readonly icon?: LucideIcon;
  readonly label: string;
}

/** An act of a menu. */
export function MenuItem({
  icon: Icon,
  label,
  danger = false,
  onSelect,
}: ItemProps & { readonly danger?: boolean; readonly onSelect: () => void }) {
  return (
    <Base.Item onClick={onSelect} className={classNames(ITEM, danger && 'text-failed')}>
      {Icon && <Icon aria-hidden size={15} className="shrink-0" />}
      {label}
    </Base.Item>
  );
}

/** A page to go to. */
export function MenuLink({ icon: Icon, label, ...link }: ItemProps & LinkProps) {
  return (
    <Base.LinkItem closeOnClick render={<Link {...link} />} className={ITEM}>
      {Icon && <Icon aria-hidden size={15} className="shrink-0" />}
      <span className="min-w-0 max-w-72 truncate">{label}</span>
    </Base.LinkItem>
  );
}

/** One of several, of which one holds. */
export function MenuChoices<Value extends string>({
  label,
  value,
  choices,
  onChange,
}: {
  readonly label: string;
  readonly value: Value;
  readonly choices: readonly { readonly value: Value; readonly label: string; readonly icon?: LucideIcon }[];
  readonly onChange: (value: Value) => void;
}) {
  return (
    <Base.RadioGroup value={value} onValueChange={onChange}>
      <Base.GroupLabel className="caption px-2 pt-1.5 pb-1">{label}</Base.GroupLabel>
      {choices.map(({ value: one, label: name, icon: Icon }) => (
        <Base.RadioItem key={one} value={one} className={ITEM}>
          {Icon && <Icon aria-hidden size={15} className="shrink-0" />}
          <span className="flex-1">{name}</span>
          <Base.RadioItemIndicator>
            <Check aria-hidden size={14} />
          </Base.RadioItemIndicator>
        </Base.RadioItem>
      ))}
    </Base.RadioGroup>
  );
}

/** Items under a word that says what they are. */
export function MenuGroup({ label, children }: { readonly label: string; readonly children: ReactNode }) {
  return (
    <Base.Group>
      <Base.GroupLabel className="caption px-2 pt-1.5 pb-1">{label}</Base.GroupLabel>
      {children}
    </Base.Group>
  );
}

/** A line between groups. */
export function MenuLine() {
  return <Base.Separator className="my-1 h-px bg-line" />;
}
