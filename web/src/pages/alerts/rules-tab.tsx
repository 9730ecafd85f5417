import { Pencil } from 'lucide-react';
import { useMemo, useState } from 'react';
import type { RequestOf } from '../../../../src/operations/table.ts';
import { Badge } from '../../parts/badge.tsx';
import { Button, IconButton } from '../../parts/button.tsx';
import { Checkbox } from '../../parts/checkbox.tsx';
import { Select } from '../../parts/choice.tsx';
import { actsColumn, type Column, DataTable } from '../../parts/data-table.tsx';
import { ActionForm } from '../../parts/form.tsx';
import { Card } from '../../parts/page.tsx';
import { Fetched } from '../../parts/states.tsx';
import { NumberField, TextField } from '../../parts/text-field.tsx';
import { useAct, useCall } from '../../queries.ts';
import { useMay } from '../../session.tsx';
import { SeverityBadge } from './severity-badge.tsx';
import { type Rule, SEVERITY_NAMES, type Severity, secondsWords, THRESHOLD_UNITS } from './words.ts';

/** What is watched, and when it fires. */
export function RulesTab() {
  const rules = useCall('alertRules', {}, { topics: ['alerts'] });
  const [changing, setChanging] = useState<Rule | null>(null);
  const mayChange = useMay('admin');
  const columns = useMemo(
    () =>
      mayChange
        ? [
            ...COLUMNS,
            actsColumn<Rule>('2.25rem', (rule) => (
              <IconButton
                icon={Pencil}
                label={`Change: ${rule.title}`}
                small
                onClick={() => setChanging(rule)}
              />
            )),
          ]
        : COLUMNS,
    [mayChange],
  );
  return (
    <Card flush>
      <Fetched query={rules} lines={12}>
        {(rows) => <DataTable label="Rules" columns={columns} rows={rows} rowId={({ name }) => name} />}
      </Fetched>
      {changing && <RuleDrawer of={changing} onClose={() => setChanging(null)} />}
    </Card>
  );
}

const COLUMNS: readonly Column<Rule>[] = [
  {
    header: 'Rule',
    width: 'minmax(0, 3fr)',
    cell: ({ title, when, enabled }) => (
      <div className="min-w-0">
        <div className={enabled ? 'font-medium' : 'font-medium text-soft'}>{title}</div>
        <div className="text-sm text-soft">{when}</div>
      </div>
    ),
  },
  {
    header: 'Severity',
    width: '6rem',
    cell: ({ severity }) => <SeverityBadge severity={severity} />,
  },
  { header: 'Fires after', width: '7rem', cell: ({ forSeconds }) => secondsWords(forSeconds) },
  {
    header: 'State',
    width: '8.5rem',
    card: 'aside',
    cell: ({ enabled, changed }) => (
      <span className="flex flex-wrap gap-1">
        <Badge tone={enabled ? 'good' : 'neutral'} dot>
          {enabled ? 'On' : 'Off'}
        </Badge>
        {changed && <Badge>Changed</Badge>}
      </span>
    ),
  },
];

interface RuleForm {
  readonly enabled: boolean;
  readonly severity: Severity;
  readonly threshold: string;
  readonly forSeconds: number | null;
  readonly coolDownSeconds: number | null;
}

const SEVERITIES = (['info', 'warning', 'critical'] as const).map((value) => ({
  value,
  label: SEVERITY_NAMES[value],
}));
const MAX_SECONDS = 7 * 86_400;
const MAX_COOL_DOWN = 86_400;

function RuleDrawer({ of, onClose }: { readonly of: Rule; readonly onClose: () => void }) {
  const { name, title, when, threshold } = of;
  const reset = useAct('changeAlertRule', { done: 'The rule is as it was', onDone: onClose });
  return (
    <ActionForm
      operation="changeAlertRule"
      done="The rule was changed"
      onDone={onClose}
      onClose={onClose}
      initial={formOf(of)}
      check={(form) => faultsIn(form, of)}
      request={(form) => requestOf(form, of)}
      submit="Save"
      className="space-y-5"
      noValidate
      sheet={{ kind: 'drawer', title, description: when }}
    >
      {({ field, values, put }) => (
        <>
          <Checkbox label="Watch it" checked={values.enabled} onChange={(enabled) => put({ enabled })}>
            <span className="font-medium">Watch it</span>
          </Checkbox>
          {threshold !== null && (
            <TextField
              label={`Threshold${THRESHOLD_UNITS[threshold.unit] === '' ? '' : ` (${THRESHOLD_UNITS[threshold.unit]})`}`}
              hint={`From ${threshold.min} to ${threshold.max}.`}
              inputMode="decimal"
              {...field('threshold')}
            />
          )}
          <NumberField
            label="It fires after (seconds)"
            hint="For so long it must be so. 0 fires at once."
            {...field('forSeconds')}
          />
          <NumberField
            label="Cool-down (seconds)"
            hint="For so long after channels were told, they are not told of the same again."
            {...field('coolDownSeconds')}
          />
          <Select label="Severity" choices={SEVERITIES} {...field('severity')} />
          {of.changed && (
            <Button
              small
              label="As it was declared"
              busy={reset.isPending}
              onClick={() => reset.mutate({ rule: name, reset: true })}
            />
          )}
        </>
      )}
    </ActionForm>
  );
}

function formOf({ enabled, severity, threshold, forSeconds, coolDownSeconds }: Rule): RuleForm {
  return { enabled, severity, threshold: threshold?.value.toString() ?? '', forSeconds, coolDownSeconds };
}

function faultsIn({ threshold: written, forSeconds, coolDownSeconds }: RuleForm, { threshold }: Rule) {
  const value = numberIn(written);
  const isIn = threshold === null || (value !== null && value >= threshold.min && value <= threshold.max);
  return {
    threshold: isIn ? null : `Must be a number from ${threshold.min} to ${threshold.max}.`,
    forSeconds: isWithin(forSeconds, MAX_SECONDS) ? null : `Must be from 0 to ${MAX_SECONDS}.`,
    coolDownSeconds: isWithin(coolDownSeconds, MAX_COOL_DOWN) ? null : `Must be from 0 to ${MAX_COOL_DOWN}.`,
  };
}

function isWithin(seconds: number | null, max: number): boolean {
  return seconds !== null && seconds >= 0 && seconds <= max;
}

function numberIn(written: string): number | null {
  return /^\s*\d{1,9}([.,]\d{1,4})?\s*$/.test(written) ? Number(written.replace(',', '.')) : null;
}

/** Only what differs, so that the rest stays as it is declared. */
function requestOf(form: RuleForm, of: Rule): RequestOf<'changeAlertRule'> {
  const { enabled, severity, forSeconds, coolDownSeconds } = form;
  const threshold = numberIn(form.threshold);
  return {
    rule: of.name,
    ...(enabled !== of.enabled && { enabled }),
    ...(severity !== of.severity && { severity }),
    ...(threshold !== null && threshold !== of.threshold?.value && { threshold }),
    ...(forSeconds !== null && forSeconds !== of.forSeconds && { forSeconds }),
    ...(coolDownSeconds !== null && coolDownSeconds !== of.coolDownSeconds && { coolDownSeconds }),
  };
}
