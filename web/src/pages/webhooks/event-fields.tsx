import { ChevronDown } from 'lucide-react';
import { useState } from 'react';
import { Button } from '../../parts/button.tsx';
import { Checkbox } from '../../parts/checkbox.tsx';
import { classNames } from '../../parts/class-names.ts';
import { EVENT_GROUPS, EVENTS, type EventGroup, hasType, withGroup, withType } from './words.ts';

/** Chooses types of events: all of a subject, or one by one. */
export function EventFields({
  legend,
  value,
  error,
  onChange,
}: {
  readonly legend: string;
  readonly value: readonly string[];
  readonly error: string | undefined;
  readonly onChange: (types: readonly string[]) => void;
}) {
  return (
    <fieldset>
      <legend className="mb-1 font-medium">{legend}</legend>
      <div className="divide-y divide-line rounded-md border border-line">
        {EVENT_GROUPS.map((group) => (
          <Group key={group.all} group={group} value={value} onChange={onChange} />
        ))}
      </div>
      {error !== undefined && <p className="mt-1 text-sm text-failed">{error}</p>}
    </fieldset>
  );
}

function Group({
  group,
  value,
  onChange,
}: {
  readonly group: EventGroup;
  readonly value: readonly string[];
  readonly onChange: (types: readonly string[]) => void;
}) {
  const chosen = group.types.filter((type) => hasType(value, group, type));
  const isAll = value.includes(group.all);
  const [open, setOpen] = useState(!isAll && chosen.length > 0);
  return (
    <div className="px-3 py-2">
      <div className="flex items-center gap-2">
        <div className="min-w-0 flex-1">
          <Checkbox
            label={`${group.name}: all types, ${group.all}`}
            checked={isAll}
            mixed={!isAll && chosen.length > 0}
            onChange={(on) => onChange(withGroup(value, group, on))}
          >
            <span className="font-medium">{group.name}</span>{' '}
            <code className="font-mono text-xs text-soft">
              {isAll || chosen.length === 0 ? group.all : `${chosen.length} of ${group.types.length} types`}
            </code>
          </Checkbox>
        </div>
        <Button
          small
          look="quiet"
          aria-expanded={open}
          aria-label={`Choose types of ${group.name}`}
          label="One by one"
          onClick={() => setOpen(!open)}
        >
          <ChevronDown
            aria-hidden
            size={14}
            className={classNames('transition-transform', open && 'rotate-180')}
          />
        </Button>
      </div>
      {open && (
        <div className="mt-1.5 space-y-1.5 pb-1 pl-6">
          {group.types.map((type) => (
            <Checkbox
              key={type}
              label={`${type}: ${EVENTS[type]}`}
              checked={chosen.includes(type)}
              onChange={(on) => onChange(withType(value, group, type, on))}
            >
              <code className="font-mono text-sm">{type}</code>{' '}
              <span className="text-sm text-soft">{EVENTS[type]}</span>
            </Checkbox>
          ))}
        </div>
      )}
    </div>
  );
}
