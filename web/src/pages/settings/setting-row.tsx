import { Lock, Pencil, RotateCcw } from 'lucide-react';
import { Badge } from '../../parts/badge.tsx';
import { Button } from '../../parts/button.tsx';
import { classNames } from '../../parts/class-names.ts';
import { useMay } from '../../session.tsx';
import { type Change, draftWith } from './changes.ts';
import { piecesOf } from './sections.ts';
import { SettingField } from './setting-field.tsx';
import { type Setting, showSetting } from './setting-values.ts';

const ORIGINS: Readonly<Record<Setting['origin'], string>> = {
  default: 'By default',
  stored: 'Set here',
  file: 'Set in the file',
  environment: 'Set in the environment',
};

/** A setting: what it means, what it is, where that comes from, and, where it may be, its field. */
export function SettingRow({
  setting,
  change,
  fault,
  onChange,
}: {
  readonly setting: Setting;
  readonly change: Change | undefined;
  /** Why it could not be stored. */
  readonly fault: string | undefined;
  /** Undefined: leave it as it is. */
  readonly onChange: (change: Change | undefined) => void;
}) {
  const mayChange = useMay('admin') && setting.locked === null;
  const isOpen = change !== undefined;
  return (
    <li
      id={setting.key}
      className={classNames(
        'relative scroll-mt-20 border-b border-line px-4 py-3.5 last:border-b-0',
        isOpen && 'bg-accent-soft/40',
      )}
    >
      {isOpen && <span aria-hidden className="absolute inset-y-0 left-0 w-[3px] bg-accent" />}
      <div className="flex flex-wrap items-start gap-x-6 gap-y-2">
        <div className="min-w-0 flex-1 basis-72">
          <h3 className="font-medium">{setting.label}</h3>
          <code className="font-mono text-xs break-all text-soft">{setting.key}</code>
          <p className="mt-1 max-w-prose text-sm text-soft">
            <Meaning text={setting.meaning} />
          </p>
        </div>
        <div className="w-full min-w-0 sm:w-68">
          <div className="flex items-start justify-between gap-2">
            <Value setting={setting} />
            {mayChange && !isOpen && (
              <Button
                small
                look="quiet"
                icon={Pencil}
                label="Change"
                aria-label={`Change ${setting.key}`}
                onClick={() => onChange({ draft: draftWith(setting, undefined) })}
              />
            )}
          </div>
          <Origin setting={setting} />
        </div>
      </div>
      {change !== undefined && <Edit setting={setting} change={change} fault={fault} onChange={onChange} />}
    </li>
  );
}

function Value({ setting }: { readonly setting: Setting }) {
  const { value, afterRestart } = setting;
  const lines = Array.isArray(value) && value.length > 0 ? value : null;
  return (
    <div className="min-w-0">
      {lines === null ? (
        <span className={classNames('break-words', value === null ? 'text-soft' : 'font-medium')}>
          {showSetting(value, setting)}
        </span>
      ) : (
        <ul className="font-mono text-sm">
          {lines.slice(0, 8).map((item, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: a list as it stands; it is not edited here
            <li key={index} className="break-all">
              {showSetting([item], setting)}
            </li>
          ))}
          {lines.length > 8 && <li className="text-soft">and {lines.length - 8} more</li>}
        </ul>
      )}
      {afterRestart !== undefined && (
        <Badge tone="warn">{showSetting(afterRestart, setting)} after a restart</Badge>
      )}
    </div>
  );
}

function Origin({ setting: { origin, source, locked, applies } }: { readonly setting: Setting }) {
  return (
    <div className="mt-1 text-xs text-soft">
      <span title={source}>{ORIGINS[origin]}</span>
      <span aria-hidden> · </span>
      {applies === 'live' ? 'changes take effect at once' : 'changes need a restart'}
      {locked !== null && (
        <span className="mt-0.5 flex items-start gap-1.5">
          <Lock aria-hidden size={12} className="mt-[3px] shrink-0" />
          <span className="min-w-0 break-words">
            <span className="sr-only">Locked: </span>
            {locked}
          </span>
        </span>
      )}
    </div>
  );
}

function Edit({
  setting,
  change,
  fault,
  onChange,
}: Parameters<typeof SettingRow>[0] & { readonly change: Change }) {
  return (
    <div className="mt-3 max-w-xl">
      <SettingField
        setting={setting}
        draft={draftWith(setting, change)}
        onChange={(draft) => onChange({ draft })}
        error={fault}
      />
      <div className="mt-2 flex flex-wrap gap-2">
        {setting.origin === 'stored' && change !== 'default' && (
          <Button
            small
            look="quiet"
            icon={RotateCcw}
            label="Back to the default"
            onClick={() => onChange('default')}
          />
        )}
        <Button small look="quiet" label="Leave as it is" onClick={() => onChange(undefined)} />
      </div>
    </div>
  );
}

/** What a setting means, its keys and values set off. */
export function Meaning({ text }: { readonly text: string }) {
  return piecesOf(text).map(({ text: piece, code }, index) =>
    code ? (
      // biome-ignore lint/suspicious/noArrayIndexKey: pieces of one text, in its order
      <code key={index} className="font-mono text-[0.92em] break-words">
        {piece}
      </code>
    ) : (
      piece
    ),
  );
}
