import { Plus, Trash2 } from 'lucide-react';
import { formatBytes } from '../../format.ts';
import { Button, IconButton } from '../../parts/button.tsx';
import { Checkbox } from '../../parts/checkbox.tsx';
import { ListField } from '../../parts/choice.tsx';
import { FormError, fieldsOf } from '../../parts/form.tsx';
import { Switch } from '../../parts/switch.tsx';
import { NumberField, TextField } from '../../parts/text-field.tsx';
import { DraftField } from './draft-field.tsx';
import { type Draft, type Setting, showSetting } from './setting-values.ts';

interface Props {
  readonly setting: Setting;
  readonly draft: Draft;
  readonly onChange: (draft: Draft) => void;
  readonly error: string | undefined;
}

/** What a setting is changed with, by its kind. */
export function SettingField({ setting, draft, onChange, error }: Props) {
  const { key, kind, label, nullable, none } = setting;
  if (kind === 'boolean' && !nullable)
    return <Switch label={label} checked={draft === true} onChange={onChange} />;
  const field =
    key === 'listener.sources' ? (
      <SourcesEditor draft={draft} onChange={onChange} error={error} />
    ) : (
      <DraftField
        of={setting}
        label={label}
        hint={hintOf(setting, draft)}
        error={error}
        draft={draft}
        onChange={onChange}
      />
    );
  if (!nullable) return field;
  return (
    <div className="space-y-2">
      {draft !== null && field}
      <Checkbox
        label={`No value for ${key}`}
        checked={draft === null}
        onChange={(isNone) => onChange(isNone ? null : firstDraft(setting))}
      >
        {none === null ? 'No value' : `No value: ${none}`}
      </Checkbox>
    </div>
  );
}

/** What to begin with where there was no value. */
function firstDraft({ kind, defaultValue, choices }: Setting): Draft {
  if (kind === 'list') return [];
  if (kind === 'boolean') return true;
  if (kind === 'choice') return choices[0] ?? '';
  return defaultValue === null ? '' : String(defaultValue);
}

/** How a value is written, what the one that is written comes to, and how it is by default. */
function hintOf(setting: Setting, draft: Draft): string {
  const { kind, unit, examples, defaultValue } = setting;
  if (kind === 'secret') return 'What is stored is never shown; empty keeps it.';
  const byDefault = `By default: ${showSetting(defaultValue, setting)}.`;
  if (examples === null) return byDefault;
  const bytes = unit === 'bytes' && typeof draft === 'string' && /^\d+$/.test(draft) ? Number(draft) : 0;
  const meant = bytes >= 1024 ? `That is ${formatBytes(bytes)}. ` : '';
  return `A number of ${unit}, or with a unit, such as ${examples}. ${meant}${byDefault}`;
}

/** The rows of `listener.sources`: devices that send without a key. The value is their JSON. */
function SourcesEditor({ draft, onChange, error }: Omit<Props, 'setting'>) {
  const rows = readSources(draft);
  const put = (index: number, row: SourceRow) =>
    onChange(writeSources(rows.map((each, place) => (place === index ? row : each))));
  return (
    <div className="space-y-3">
      {rows.length === 0 && (
        <p className="text-soft">No device has a name yet. Devices in allowed ranges may still send.</p>
      )}
      {rows.map((row, index) => (
        <SourceFields
          // biome-ignore lint/suspicious/noArrayIndexKey: rows have no other identity while their names are being typed
          key={index}
          row={row}
          onChange={(next) => put(index, next)}
          onRemove={() => onChange(writeSources(rows.filter((_, place) => place !== index)))}
        />
      ))}
      <FormError>{error ?? null}</FormError>
      <Button
        small
        icon={Plus}
        label="Add a device"
        onClick={() =>
          onChange(
            writeSources([...rows, { name: '', cidr: '', sender_domains: [], rate_per_minute: 0, tags: [] }]),
          )
        }
      />
    </div>
  );
}

function SourceFields({
  row,
  onChange,
  onRemove,
}: {
  readonly row: SourceRow;
  readonly onChange: (row: SourceRow) => void;
  readonly onRemove: () => void;
}) {
  const field = fieldsOf(row, {}, (part) => onChange({ ...row, ...part }));
  return (
    <fieldset className="rounded-md border border-line bg-surface p-3">
      <legend className="sr-only">{row.name === '' ? 'A new device' : row.name}</legend>
      <div className="grid gap-3 sm:grid-cols-[1fr_1fr_auto]">
        <TextField label="Name" placeholder="printer" verbatim {...field('name')} />
        <TextField label="Address or range" mono placeholder="192.168.4.7" verbatim {...field('cidr')} />
        <IconButton
          icon={Trash2}
          label={`Remove ${row.name === '' ? 'this device' : row.name}`}
          onClick={onRemove}
          className="self-end max-sm:justify-self-end"
        />
        <ListField label="Sender domains" hint="Empty for any." {...field('sender_domains')} />
        <ListField label="Tags" {...field('tags')} />
        <NumberField
          className="sm:col-span-2 sm:max-w-60"
          label="Messages a minute"
          hint="0 leaves it to the limit of all sources."
          value={row.rate_per_minute}
          onChange={(rate) => onChange({ ...row, rate_per_minute: rate ?? 0 })}
        />
      </div>
    </fieldset>
  );
}

/** A row of `listener.sources` as the configuration has it. */
export interface SourceRow {
  readonly name: string;
  readonly cidr: string;
  readonly sender_domains: readonly string[];
  readonly rate_per_minute: number;
  readonly tags: readonly string[];
}

/** Rows from their JSON; what is not there is as by default. Empty for what is no list. */
function readSources(draft: Draft): readonly SourceRow[] {
  const list = typeof draft === 'string' ? parsed(draft) : null;
  return Array.isArray(list) ? list.map(readRow) : [];
}

/** Their JSON. */
function writeSources(rows: readonly SourceRow[]): string {
  return JSON.stringify(rows);
}

function readRow(raw: unknown): SourceRow {
  const row = (typeof raw === 'object' && raw !== null ? raw : {}) as Readonly<Record<string, unknown>>;
  return {
    name: asText(row['name']),
    cidr: asText(row['cidr']),
    // The server tells of rows as they were read, or as they were written.
    sender_domains: asTexts(row['sender_domains'] ?? row['senderDomains']),
    rate_per_minute: asNumber(row['rate_per_minute'] ?? row['ratePerMinute']),
    tags: asTexts(row['tags']),
  };
}

function asText(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function asTexts(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.map(String) : [];
}

function asNumber(value: unknown): number {
  return typeof value === 'number' ? value : 0;
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return null;
  }
}
