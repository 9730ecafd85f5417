import { ok, warn } from './finding.ts';
import type { Check } from './premises.ts';

const NAME = 'holds';
/** Held lanes and relays that are told one by one. */
const MAX_TOLD = 20;
const HELD = {
  pause: 'is paused by an operator: nothing is sent by it, and its mail may wait',
  drain: 'is draining by an operator: nothing new is routed to it',
} as const;

/** Whether an operator holds mail back, and has perhaps forgotten it. */
export const holdsCheck: Check = async ({ loaded: { holds } }) => {
  if (holds.size === 0) return [ok(NAME, 'No relay and no lane is held back.')];
  return [...holds]
    .slice(0, MAX_TOLD)
    .map(([target, kind]) =>
      warn(`hold ${target}`, `${target} ${HELD[kind]}.`, `waybill queue resume ${target}`),
    );
};
