import { Store, useStored } from './store.ts';

/** How exact times are written: in the time zone of whoever reads, or in UTC, as the log and the API have them. */
export type Times = 'here' | 'utc';

const STORED = 'waybill.times';
const UTC = 'UTC';

/** The browser's time zone, such as `Europe/Berlin`. */
export const ZONE_HERE = new Intl.DateTimeFormat().resolvedOptions().timeZone ?? UTC;

/** Whether there is a choice: not for those whose time zone is UTC. */
export const HAS_CHOICE = ZONE_HERE !== UTC;

const chosen = new Store<Times>(read());

globalThis.addEventListener?.('storage', ({ key }) => {
  if (key === STORED) chosen.put(read());
});

function read(): Times {
  try {
    return localStorage.getItem(STORED) === 'utc' ? 'utc' : 'here';
  } catch {
    return 'here';
  }
}

/** Chooses how this browser writes times, in all its tabs. */
export function setTimes(times: Times): void {
  try {
    if (times === 'here') localStorage.removeItem(STORED);
    else localStorage.setItem(STORED, times);
  } catch {
    // Without storage it holds for this page.
  }
  chosen.put(times);
}

/** What was chosen. */
export function useTimes(): Times {
  return useStored(chosen);
}

/** The time zone in which exact times are written. */
export function useZone(): string {
  return useTimes() === 'utc' ? UTC : ZONE_HERE;
}
