import { ArrowRight } from 'lucide-react';
import { Badge } from '../../parts/badge.tsx';
import { Form } from '../../parts/form.tsx';
import { DiffLine } from '../../parts/values.tsx';
import type { Pending } from './changes.ts';
import { listChange, showSetting } from './setting-values.ts';

/** What is about to be changed, before and after, to be looked at once more. */
export function ReviewDialog({
  onClose,
  onStore,
  pending,
  busy,
  problem,
}: {
  readonly onClose: () => void;
  readonly onStore: () => void;
  readonly pending: readonly Pending[];
  readonly busy: boolean;
  /** Why it was not stored; null before it was tried. */
  readonly problem: string | null;
}) {
  const restarts = pending.some(({ setting }) => setting.applies === 'restart');
  return (
    <Form
      sheet={{
        title: pending.length === 1 ? 'Change this setting?' : `Change ${pending.length} settings?`,
        description: restarts
          ? 'Settings that need a restart take effect at the next start.'
          : 'It takes effect at once.',
      }}
      act={{ mutate: onStore, error: null, isPending: busy }}
      initial={{}}
      request={() => ({})}
      sort={() => ({ fields: {}, rest: problem })}
      submit={pending.length === 1 ? 'Save the change' : 'Save the changes'}
      cancel="Go on editing"
      disabled={() => pending.length === 0}
      onClose={onClose}
    >
      {() => (
        <ul className="space-y-4">
          {pending.map((each) => (
            <li key={each.setting.key}>
              <div className="flex flex-wrap items-center gap-2">
                <code className="font-mono text-sm font-medium break-all">{each.setting.key}</code>
                <Badge tone={each.setting.applies === 'live' ? 'neutral' : 'warn'}>
                  {each.setting.applies === 'live' ? 'At once' : 'After a restart'}
                </Badge>
              </div>
              <BeforeAndAfter {...each} />
            </li>
          ))}
        </ul>
      )}
    </Form>
  );
}

function BeforeAndAfter({ setting, reading }: Pending) {
  const { kind, value } = setting;
  if (kind === 'secret') return <p className="mt-1 text-soft">A new value, which is never shown.</p>;
  const after = 'fault' in reading ? null : reading.value;
  const change = listChange(value, after);
  if (change !== null && change.added.length + change.removed.length > 0)
    return (
      <ul className="mt-1">
        {change.removed.map((item) => (
          <li key={`- ${item}`}>
            <DiffLine kind="removed" text={item} />
          </li>
        ))}
        {change.added.map((item) => (
          <li key={`+ ${item}`}>
            <DiffLine kind="added" text={item} />
          </li>
        ))}
      </ul>
    );
  return <Becomes before={value} after={after} of={setting} />;
}

/** What a value was, and what it will be. */
export function Becomes({
  before,
  after,
  of,
}: {
  readonly before: unknown;
  readonly after: unknown;
  readonly of: Parameters<typeof showSetting>[1];
}) {
  return (
    <p className="mt-1 flex flex-wrap items-center gap-2 break-all">
      <span className="text-soft line-through decoration-1">{showSetting(before, of)}</span>
      <ArrowRight aria-label="becomes" size={14} className="shrink-0 text-soft" />
      <span className="font-medium">{showSetting(after, of)}</span>
    </p>
  );
}
