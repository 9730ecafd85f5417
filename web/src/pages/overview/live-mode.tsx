import { plural } from '../../format.ts';
import { Card } from '../../parts/page.tsx';
import { Fetched } from '../../parts/states.tsx';
import { useCall } from '../../queries.ts';
import { LiveFlow, type LiveView } from './live-flow.tsx';
import { LiveRelays } from './live-relays.tsx';
import { LiveRows } from './live-rows.tsx';

/** Figures fall with time when nothing happens, which no hint tells of. */
const EVERY_MS = 5_000;

/**
 * The overview while it is live: mail on its way, the newest messages as they come, and what each relay does. Hints fetch
 * it anew, twice a second at the most; a page that is not looked at fetches nothing. In a file of its own, so that only
 * who switches it on loads it.
 */
export default function LiveMode() {
  const live = useCall(
    'live',
    {},
    { topics: ['messages', 'queue', 'relays'], everyMs: EVERY_MS, prompt: true },
  );
  return (
    <Fetched query={live} lines={2} shape="figures">
      {(view) => (
        <div className="space-y-4">
          <LiveFlow view={view} />
          <div className="grid gap-4 xl:grid-cols-[minmax(0,2fr)_minmax(0,1fr)]">
            <Card flush title="Newest messages" note="As they come in.">
              <LiveRows messages={view.messages} />
            </Card>
            <Card flush title="Relays by minute" note={`Recipients, the last half hour${others(view)}.`}>
              <LiveRelays relays={view.relays} />
            </Card>
          </div>
        </div>
      )}
    </Fetched>
  );
}

function others({ moreRelays }: LiveView): string {
  return moreRelays === 0 ? '' : `; ${plural(moreRelays, 'relay')} with less to do not shown`;
}
