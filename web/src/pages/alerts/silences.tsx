import { Button } from '../../parts/button.tsx';
import { Select } from '../../parts/choice.tsx';
import { ActionForm } from '../../parts/form.tsx';
import { Card } from '../../parts/page.tsx';
import { TextField } from '../../parts/text-field.tsx';
import { Said, Time } from '../../parts/values.tsx';
import { useAct, useCall } from '../../queries.ts';
import { useMay } from '../../session.tsx';
import type { Alert, Rule, Silence } from './words.ts';

/** The silences that last; nothing, where there is none. */
export function Silences() {
  const silences = useCall('alertSilences', {}, { topics: ['alerts'], everyMs: 60_000 });
  const rules = useCall('alertRules', {}, { topics: ['alerts'] });
  if (silences.data === undefined || silences.data.length === 0) return null;
  return (
    <Card
      title="Silences"
      note="They are watched all the same, and told afterwards if they still fire."
      flush
    >
      <ul className="divide-y divide-line">
        {silences.data.map((one) => (
          <SilenceRow key={one.id} of={one} title={titleOf(one, rules.data ?? [])} />
        ))}
      </ul>
    </Card>
  );
}

function SilenceRow({ of, title }: { readonly of: Silence; readonly title: string }) {
  const end = useAct('endAlertSilence', { done: 'The silence has ended' });
  const mayEnd = useMay('operator');
  return (
    <li className="flex flex-wrap items-center gap-x-4 gap-y-1 px-4 py-2.5">
      <div className="min-w-0 flex-1 basis-52">
        <div className="font-medium">{title}</div>
        <div className="min-w-0 text-sm text-soft">
          ends <Time at={of.until} />
          {of.by !== '' && `, by ${of.by}`}
          {of.note !== '' && <Said text={of.note} lines="several" className="block" />}
        </div>
      </div>
      {mayEnd && <Button small label="End" busy={end.isPending} onClick={() => end.mutate({ id: of.id })} />}
    </li>
  );
}

function titleOf({ rule, subject }: Silence, rules: readonly Rule[]): string {
  const title = rule === null ? 'All alerts' : (rules.find(({ name }) => name === rule)?.title ?? rule);
  return subject === null || subject === '' ? title : `${title}: ${subject}`;
}

const TIMES = [
  { value: '60', label: '1 hour' },
  { value: '240', label: '4 hours' },
  { value: '1440', label: '1 day' },
  { value: '10080', label: '1 week' },
] as const;

/** Silences alerts for a while: one that is shown, or those of a rule. */
export function SilenceDialog({ of, onClose }: { readonly of: Alert | null; readonly onClose: () => void }) {
  const rules = useCall('alertRules', {}, { topics: ['alerts'] });
  return (
    <ActionForm
      operation="silenceAlerts"
      done="Nobody is told of it for a while"
      onDone={onClose}
      onClose={onClose}
      initial={{ rule: of?.rule ?? '', minutes: '60' as (typeof TIMES)[number]['value'], note: '' }}
      request={({ rule, minutes, note }) => ({
        rule: (rules.data ?? []).find(({ name }) => name === rule)?.name ?? of?.rule ?? null,
        subject: of?.subject ?? null,
        minutes: Number(minutes),
        note: note.trim(),
      })}
      submit="Silence"
      sheet={{
        title: 'Silence alerts',
        description: 'They are watched and shown all the same; channels are told nothing meanwhile.',
      }}
    >
      {({ field }) => (
        <>
          {of === null ? (
            <Select
              label="Which"
              choices={[
                { value: '', label: 'All alerts' },
                ...(rules.data ?? []).map(({ name, title }) => ({ value: name as string, label: title })),
              ]}
              {...field('rule')}
            />
          ) : (
            <p>
              <strong className="font-semibold">{of.title}</strong>
              {of.subject !== '' && `: ${of.subject}`}
            </p>
          )}
          <Select label="For" choices={TIMES} {...field('minutes')} />
          <TextField
            label="Why"
            placeholder="Such as: moving the database"
            maxLength={500}
            {...field('note')}
          />
        </>
      )}
    </ActionForm>
  );
}
