import { Tabs as Base } from '@base-ui/react/tabs';
import { useNavigate } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { type Address, useAddress } from '../address.ts';

/** A tab. */
export interface Tab<Value extends string> {
  readonly value: Value;
  readonly label: ReactNode;
  readonly content: ReactNode;
}

/** Sheets of which one is shown. Keep which in the page's URL. */
export function Tabs<Value extends string>({
  label,
  tabs: all,
  value,
  onChange,
  keep = false,
}: {
  /** What they are tabs of, read aloud. */
  readonly label: string;
  /** What is `false` is not there. */
  readonly tabs: readonly (Tab<Value> | false)[];
  readonly value: Value;
  readonly onChange: (value: Value) => void;
  /** What is not shown stays as it is: fields keep what can be undone in them. */
  readonly keep?: boolean;
}) {
  const tabs = all.filter((tab) => tab !== false);
  return (
    <Base.Root value={value} onValueChange={(next) => onChange(next as Value)}>
      <Base.List
        aria-label={label}
        className="relative flex max-w-full gap-1 overflow-x-auto border-b border-line [scrollbar-width:none]"
      >
        {tabs.map((tab) => (
          <Base.Tab
            key={tab.value}
            value={tab.value}
            className="relative shrink-0 rounded-t-sm px-3 py-2 font-medium whitespace-nowrap text-soft -outline-offset-2 hover:text-ink data-active:text-ink data-active:after:absolute data-active:after:inset-x-2 data-active:after:bottom-0 data-active:after:h-0.5 data-active:after:bg-accent"
          >
            {tab.label}
          </Base.Tab>
        ))}
      </Base.List>
      {tabs.map((tab) => (
        <Base.Panel key={tab.value} value={tab.value} keepMounted={keep} className="pt-4 outline-offset-4">
          {tab.content}
        </Base.Panel>
      ))}
    </Base.Root>
  );
}

type PageTab = Tab<NonNullable<Address['tab']>>;

/** The tabs of a page. Which is shown is in its address; the first is shown without. */
export function PageTabs({
  label,
  tabs,
}: {
  readonly label: string;
  readonly tabs: readonly (PageTab | false)[];
}) {
  const [{ tab }] = useAddress();
  const navigate = useNavigate();
  const there = tabs.filter((each) => each !== false);
  const [first] = there;
  const shown = there.find(({ value }) => value === tab) ?? first;
  if (!first || !shown) return null;
  return (
    <Tabs
      label={label}
      tabs={there}
      value={shown.value}
      onChange={(next) =>
        void navigate({ to: '.', search: next === first.value ? {} : { tab: next }, replace: true })
      }
    />
  );
}
