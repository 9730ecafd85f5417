import { useAddress } from '../../address.ts';
import { Card } from '../../parts/page.tsx';
import { Fetched } from '../../parts/states.tsx';
import { TimeSeriesChart } from '../../parts/time-series-chart.tsx';
import { Segments } from '../../parts/toolbar.tsx';
import { useCall } from '../../queries.ts';

const RANGES = [
  { value: 'hour', label: '1 h', step: 'minute', count: 60, words: 'the last hour, by minute' },
  { value: 'day', label: '24 h', step: 'hour', count: 24, words: 'the last 24 hours, by hour' },
  { value: 'week', label: '7 d', step: 'hour', count: 168, words: 'the last 7 days, by hour' },
  { value: 'month', label: '30 d', step: 'day', count: 30, words: 'the last 30 days, by day' },
] as const;

/** A chart of the last hour is a minute behind at the most. */
const EVERY_MS = 20_000;

/** A message counts when it is delivered or fails; each attempt that is deferred before counts, too. */
const COUNTED = 'Messages delivered and failed, and attempts deferred';

/** What became of mail over time. */
export function OutcomesChart() {
  const [{ range: chosen = 'day' }, put] = useAddress();
  const range = RANGES.find(({ value }) => value === chosen) ?? RANGES[1];
  const series = useCall(
    'series',
    { step: range.step, count: range.count, relay: null },
    { everyMs: EVERY_MS, keep: true },
  );
  return (
    <Card
      title="Outcomes"
      note={`${COUNTED}, over ${range.words}; times in UTC.`}
      actions={
        <Segments
          label="Range"
          choices={RANGES}
          value={chosen}
          onChange={(next) => put({ range: next === 'day' ? undefined : next })}
        />
      }
    >
      <Fetched query={series}>
        {({ from, stepSeconds, counts }) => (
          <TimeSeriesChart
            label={`${COUNTED}, over ${range.words}`}
            from={Date.parse(from)}
            stepSeconds={stepSeconds}
            height={230}
            series={[
              { label: 'Messages delivered', color: 'delivered', values: counts.delivered ?? [] },
              { label: 'Attempts deferred', color: 'retrying', values: counts.retried ?? [] },
              { label: 'Messages failed', color: 'failed', values: counts.failed ?? [] },
            ]}
          />
        )}
      </Fetched>
    </Card>
  );
}
