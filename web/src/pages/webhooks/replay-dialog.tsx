import { useState } from 'react';
import { plural } from '../../format.ts';
import { Button } from '../../parts/button.tsx';
import { Select } from '../../parts/choice.tsx';
import { ActionForm, type FormInHand } from '../../parts/form.tsx';
import { TextField } from '../../parts/text-field.tsx';
import { Said } from '../../parts/values.tsx';
import { useCall } from '../../queries.ts';
import { EventFields } from './event-fields.tsx';
import { fieldOfTime, missedSince, timeOfField } from './missed.ts';
import type { Endpoint } from './words.ts';

/** What is filled in: times in UTC. */
interface ReplayForm {
  readonly since: string;
  readonly until: string;
  readonly only: 'failed' | 'all';
  /** Empty: all that the endpoint is told of. */
  readonly types: readonly string[];
}

/** Tells an endpoint of events again: after it was off, of what it missed. */
export function ReplayDialog({
  of,
  afterPause,
  onClose,
}: {
  /** As it was before it was enabled. */
  readonly of: Endpoint;
  /** It was enabled a moment ago. */
  readonly afterPause: boolean;
  readonly onClose: () => void;
}) {
  // What it took before it was disabled, or was to be told of before it was switched off.
  const status = of.health.state === 'disabled' ? 'delivered' : null;
  const newest = useCall('webhookDeliveries', { which: of.id, status, limit: 1 }, { enabled: afterPause });
  const [openedAt] = useState(() => Date.now());
  if (afterPause && newest.isLoading) return null;
  const since = afterPause ? missedSince(of, newest.data?.deliveries[0]?.eventId ?? null) : openedAt - DAY_MS;
  return (
    <ActionForm
      operation="replayWebhook"
      sheet={{
        title: afterPause ? 'Tell it what it missed?' : 'Replay events',
        description: <Said text={of.url} />,
      }}
      initial={
        { since: fieldOfTime(since), until: '', only: 'failed', types: [] } satisfies ReplayForm as ReplayForm
      }
      check={checkTimes}
      request={({ since: from, until, only, types }) => ({
        which: of.id,
        since: timeOfField(from) ?? '',
        until: timeOfField(until),
        only,
        types: [...types],
      })}
      submit="Replay"
      cancel={afterPause ? 'Not now' : 'Cancel'}
      done={({ replayed }) =>
        replayed === 0 ? 'There was nothing to tell again' : `${plural(replayed, 'event')} on the way`
      }
      onDone={onClose}
      onClose={onClose}
      noValidate
    >
      {(form) => <ReplayFields form={form} afterPause={afterPause} openedAt={openedAt} />}
    </ActionForm>
  );
}

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const SPANS = [
  ['Last hour', HOUR_MS],
  ['Last day', DAY_MS],
  ['Last week', 7 * DAY_MS],
] as const;

function ReplayFields({
  form: { values, put, field, faults },
  afterPause,
  openedAt,
}: {
  readonly form: FormInHand<ReplayForm>;
  readonly afterPause: boolean;
  readonly openedAt: number;
}) {
  const [narrows, setNarrows] = useState(false);
  return (
    <>
      {afterPause && (
        <p>
          It is told of what happens from now on. What happened while it was off is in the log of events: it
          can be told now.
        </p>
      )}
      <div className="grid gap-4 sm:grid-cols-2">
        <div>
          <TextField label="Since (UTC)" type="datetime-local" step={1} {...field('since')} />
          <div className="mt-1.5 -ml-2.5 flex flex-wrap gap-1">
            {SPANS.map(([label, ms]) => (
              <Button
                key={label}
                small
                look="quiet"
                label={label}
                onClick={() => put({ since: fieldOfTime(openedAt - ms) })}
              />
            ))}
          </div>
        </div>
        <TextField
          label="Until (UTC)"
          type="datetime-local"
          step={1}
          hint="Empty: until now."
          {...field('until')}
        />
      </div>
      <Select
        label="Which events"
        choices={[
          { value: 'failed', label: 'What it was not told', note: 'Failed, or missed while it was off.' },
          {
            value: 'all',
            label: 'All, once more',
            note: 'With the same webhook-id as before, so that it can drop what it has seen.',
          },
        ]}
        {...field('only')}
      />
      {narrows ? (
        <EventFields
          legend="Only these types"
          value={values.types}
          error={faults['types']}
          onChange={(types) => put({ types })}
        />
      ) : (
        <Button small label="Only some types of events" onClick={() => setNarrows(true)} />
      )}
    </>
  );
}

function checkTimes({ since, until }: ReplayForm) {
  const [from, to] = [timeOfField(since), timeOfField(until)];
  return {
    since: from === null ? 'Enter a time.' : null,
    until: from !== null && to !== null && to <= from ? 'Must be later than Since.' : null,
  };
}
