/** Alerts over days of relays that come and go, told by nodes that die, hand over and lose the store. */
import { expect, test } from 'vitest';
import { before, tell, times } from '../support/proof.ts';
import { type AlertHistory, playAlerts } from './alert-world.ts';

const COUNT = times('alert_histories', 3);

test('an alert fires once for each cause and is over once, whoever dies and whatever fails', async () => {
  const sums: Record<string, number> = {};
  for (let seed = 1 + before(); seed <= before() + COUNT; seed++) {
    const history: AlertHistory = await playAlerts(seed).catch((error: unknown) => {
      const asked = `WAYBILL_TIMES_ALERT_HISTORIES=1 WAYBILL_BEFORE=${seed - 1}`;
      throw new Error(`replay: ${asked} npx vitest run test/simulation/alerts`, { cause: error });
    });
    for (const [what, count] of Object.entries(history)) sums[what] = (sums[what] ?? 0) + count;
  }
  expect(sums['fired']).toBeGreaterThan(0);
  tell('alert histories', { histories: COUNT, ...sums });
});
