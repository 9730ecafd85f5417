import { Plus, Trash2 } from 'lucide-react';
import { formatBytes } from '../../format.ts';
import { Button, IconButton } from '../../parts/button.tsx';
import { Checkbox } from '../../parts/checkbox.tsx';
import { ListField, Select, Switch } from '../../parts/choice.tsx';
import { FormError, fieldsOf } from '../../parts/form.tsx';
import { NumberField, SecretField, Textarea, TextField } from '../../parts/text-field.tsx';
import { useCall } from '../../queries.ts';
import { type Draft, type Setting, shortUnit, showSetting } from './setting-values.ts';

interface Props {
  readonly setting: Setting;
  readonly draft: Draft;
  readonly onChange: (draft: Draft) => void;
  readonly error: string | undefined;
}

/** What a setting is changed with, by its kind. */
export function SettingField(props: Props) {
  const { setting, draft, onChange } = props;
  if (setting.kind === 'boolean' && !setting.nullable)
    return <Switch label={setting.label} checked={draft === true} onChange={onChange} />;
  if (!setting.nullable) return <ValueField {...props} />;
  return (
    <div className="space-y-2">
      {draft !== null && <ValueField {...props} />}
      <Checkbox
        label={`No value for ${setting.key}`}
        checked={draft === null}
        onChange={(none) => onChange(none ? null : firstDraft(setting))}
      >
        {setting.none === null ? 'No value' : `No value: ${setting.none}`}
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

function ValueField({ setting, draft, onChange, error }: Props) {
  const { key, label, kind, choices, defaultValue } = setting;
  const common = { label, error, hint: `By default: ${showSetting(defaultValue, setting)}.` };
  const text = typeof draft === 'string' ? draft : '';
  if (key === 'listener.sources') return <SourcesEditor value={text} onChange={onChange} error={error} />;
  switch (kind) {
    case 'integer':
      return <IntegerField {...common} setting={setting} value={text} onChange={onChange} />;
    case 'list':
      return <ListField {...common} value={Array.isArray(draft) ? draft : []} onChange={onChange} />;
    case 'choice':
    case 'boolean':
      return (
        <Select
          {...common}
          choices={kind === 'boolean' ? ['true', 'false'] : choices}
          value={kind === 'boolean' ? String(draft) : text}
          onChange={(value) => onChange(kind === 'boolean' ? value === 'true' : value)}
        />
      );
    case 'json':
      return <Textarea {...common} mono rows={6} spellCheck={false} value={text} onChange={onChange} />;
    case 'secret':
      return (
        <SecretField
          {...common}
          hint="What is stored is never shown; empty keeps it."
          value={text}
          onChange={onChange}
        />
      );
    case 'relay':
      return <RelayField {...common} value={text} onChange={onChange} />;
    case 'text':
      return <TextField {...common} mono spellCheck={false} value={text} onChange={onChange} />;
  }
}

/** What is typed as text, whatever it stands for. */
interface TextProps {
  readonly label: string;
  readonly hint: string;
  readonly error: string | undefined;
  readonly value: string;
  readonly onChange: (draft: Draft) => void;
}

function IntegerField({
  setting: { unit, examples },
  value,
  onChange,
  hint,
  ...field
}: TextProps & { readonly setting: Setting }) {
  const number = /^-?\d+$/.test(value) ? Number(value) : null;
  const meant =
    unit === 'bytes' && number !== null && number >= 1024 ? `That is ${formatBytes(number)}. ` : '';
  if (examples !== null) {
    const counted = `A number of ${unit}, or with a unit, such as ${examples}. `;
    return <TextField {...field} hint={`${counted}${meant}${hint}`} value={value} onChange={onChange} />;
  }
  return (
    <NumberField
      {...field}
      unit={unit && shortUnit(unit)}
      hint={hint}
      value={number}
      onChange={(next) => onChange(next === null ? '' : String(next))}
    />
  );
}

function RelayField({ value, ...field }: TextProps) {
  const relays = useCall('relays', {}, { topics: ['relays'] });
  const names = relays.data?.map(({ name }) => name) ?? [];
  // A relay that is gone still stands there until another is chosen.
  const all = value === '' || names.includes(value) ? names : [value, ...names];
  return <Select {...field} choices={all} value={value} />;
}

/** The rows of `listener.sources`: devices that send without a key. The value is their JSON. */
function SourcesEditor({
  value,
  onChange,
  error,
}: {
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly error: string | undefined;
}) {
  const rows = readSources(value);
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
function readSources(json: string): readonly SourceRow[] {
  const list = parsed(json);
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
