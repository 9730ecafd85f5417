import { MISSING_CURE, missingDetail } from '../../domain/health.ts';
import { missingRelays } from '../../domain/route.ts';
import { ok, warn } from './finding.ts';
import type { Check } from './premises.ts';

/** Whether every relay that a rule names exists. */
export const routesCheck: Check = async ({ loaded }) => {
  const { routes, relays } = loaded.config;
  const missing = missingRelays(routes, relays);
  if (missing.length === 0) return [ok('routes', 'Every relay that a rule names exists.')];
  return missing.map((one) =>
    warn(`route ${one.rule}`, missingDetail(one), `add the relay ${one.relay}, or ${MISSING_CURE}`),
  );
};
