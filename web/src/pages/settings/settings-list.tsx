import { SearchX } from 'lucide-react';
import { Card } from '../../parts/card.tsx';
import { EmptyState } from '../../parts/states.tsx';
import type { Change, Changes } from './changes.ts';
import { SettingRow } from './setting-row.tsx';
import type { Setting } from './setting-values.ts';

/** Settings one below the other. */
export function SettingsList({
  title,
  settings,
  changes,
  faults,
  onChange,
}: {
  readonly title: string;
  readonly settings: readonly Setting[];
  readonly changes: Changes;
  readonly faults: Readonly<Record<string, string>>;
  readonly onChange: (key: string, change: Change | undefined) => void;
}) {
  return (
    <Card title={title} flush>
      {settings.length === 0 ? (
        <EmptyState icon={SearchX} title="No setting is like that">
          Try a part of its key, such as <code className="font-mono">rate</code> or{' '}
          <code className="font-mono">timeout</code>.
        </EmptyState>
      ) : (
        <ul>
          {settings.map((setting) => (
            <SettingRow
              key={setting.key}
              setting={setting}
              change={changes[setting.key]}
              fault={faults[setting.key]}
              onChange={(change) => onChange(setting.key, change)}
            />
          ))}
        </ul>
      )}
    </Card>
  );
}
