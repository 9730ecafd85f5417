/** Suites that hold much of what mutants break. */
import type { Trap } from './mutant.ts';

/** A simulated history. */
export function history(seed: number): Trap {
  return {
    file: 'test/simulation/simulation.test.ts',
    test: `seed ${seed} keeps every promise`,
    environment: { WAYBILL_SEEDS: `${seed}-${seed}` },
  };
}

/** One that meets nearly everything: what breaks a promise for good breaks it in nearly all of them. */
export const HISTORY = history(2);

/** Histories of alerts. */
export const ALERT_HISTORIES: Trap = {
  file: 'test/simulation/alerts.test.ts',
  test: 'an alert fires once for each cause and is over once',
};

/** What every store promises, held over SQLite. */
export function sqlite(promise: string): Trap {
  return { file: 'test/contract/store.sqlite.test.ts', test: `better-sqlite3 > ${promise}` };
}

/** The same, held over PostgreSQL. */
export function postgres(promise: string): Trap {
  return { file: 'test/contract/store.postgres.test.ts', test: promise };
}

/** The same, held over the log and the database behind it. */
export function logged(promise: string): Trap {
  return { file: 'test/contract/store.logged.test.ts', test: `SQLite behind the log > ${promise}` };
}

/** A disk that keeps only what was flushed, cut off from its power again and again, and what the process had promised by then. */
export const POWER_CUTS: Trap = {
  file: 'test/crash/power-cut.test.ts',
  test: 'what was promised holds after each of',
  environment: { WAYBILL_TIMES_POWER_CUTS: '300' },
};
