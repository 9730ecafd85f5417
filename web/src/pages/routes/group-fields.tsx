import { ArrowDown, ArrowUp, X } from 'lucide-react';
import { IconButton } from '../../parts/button.tsx';
import { Select } from '../../parts/choice.tsx';
import { NumberField } from '../../parts/text-field.tsx';
import { moved, type RuleDraft } from './rules.ts';

/** Most relays of a rule. */
const MAX_GROUP = 16;

type Group = Pick<RuleDraft, 'via' | 'weighted'>;

/** The relays of a rule: tried in order, or drawn by weight. */
export function GroupFields({
  via,
  weighted,
  relays,
  error,
  onChange,
}: Group & {
  readonly relays: readonly string[];
  readonly error: string | null;
  readonly onChange: (group: Group) => void;
}) {
  const left = relays.filter((relay) => !via.some((member) => member.relay === relay));
  const put = (next: Group['via']) => onChange({ via: next, weighted });
  return (
    <fieldset className="space-y-3">
      <legend className="mb-1 font-semibold">It goes by</legend>
      {via.length > 1 && (
        <Select
          label="Which one"
          choices={[
            {
              value: 'given',
              label: 'In this order',
              note: 'The next one only when those before cannot take it.',
            },
            { value: 'weighted', label: 'Drawn by weight', note: 'A share each; the rest stand by.' },
          ]}
          value={weighted ? 'weighted' : 'given'}
          onChange={(order) => onChange({ via, weighted: order === 'weighted' })}
        />
      )}
      <ol className="space-y-2">
        {via.map((member, place) => (
          <li
            key={member.relay}
            className="flex items-center gap-2 rounded-md border border-line bg-surface py-1.5 pr-1.5 pl-3"
          >
            <span className="min-w-0 flex-1 truncate font-mono text-sm">{member.relay}</span>
            {weighted ? (
              <NumberField
                className="w-24 [&_label]:sr-only"
                label={`Weight of ${member.relay}`}
                value={member.weight}
                onChange={(weight) =>
                  put(
                    via.map((each, at) =>
                      at === place ? { ...each, weight: Math.max(1, weight ?? 1) } : each,
                    ),
                  )
                }
              />
            ) : (
              <>
                <IconButton
                  icon={ArrowUp}
                  small
                  label={`Put ${member.relay} earlier`}
                  disabled={place === 0}
                  onClick={() => put(moved(via, place, place - 1))}
                />
                <IconButton
                  icon={ArrowDown}
                  small
                  label={`Put ${member.relay} later`}
                  disabled={place === via.length - 1}
                  onClick={() => put(moved(via, place, place + 1))}
                />
              </>
            )}
            <IconButton
              icon={X}
              small
              label={`Leave out ${member.relay}`}
              onClick={() => put(via.filter((_, at) => at !== place))}
            />
          </li>
        ))}
      </ol>
      {left.length > 0 && via.length < MAX_GROUP && (
        <Select
          bare
          label="Add a relay"
          choices={[
            { value: '', label: via.length === 0 ? 'Choose a relay' : 'Add another relay' },
            ...left.map((relay) => ({ value: relay, label: relay })),
          ]}
          value=""
          onChange={(relay) => relay !== '' && put([...via, { relay, weight: 1 }])}
        />
      )}
      {error !== null && <p className="text-sm text-failed">{error}</p>}
    </fieldset>
  );
}
