/** Sizes and times as people write them: a whole number and a unit, such as `500GiB` or `2h`. */

/** What a unit of sizes stands for, in bytes. Powers of two are called so: `MB` is a million. */
const SIZES: Readonly<Record<string, number>> = {
  ...{ B: 1, kB: 1e3, MB: 1e6, GB: 1e9, TB: 1e12 },
  ...{ KiB: 2 ** 10, MiB: 2 ** 20, GiB: 2 ** 30, TiB: 2 ** 40 },
};

/** What a unit of time stands for, in ms. */
const TIMES: Readonly<Record<string, number>> = {
  ...{ ms: 1, s: 1000, m: 60_000, min: 60_000, h: 3_600_000, d: 86_400_000 },
};

interface Measure {
  readonly units: Readonly<Record<string, number>>;
  /** What one of the setting's own unit is in the least of `units`. */
  readonly one: number;
  readonly examples: string;
}

const MEASURES: Readonly<Record<string, Measure>> = {
  bytes: { units: SIZES, one: 1, examples: '512KiB, 25MiB or 10GB' },
  ms: { units: TIMES, one: 1, examples: '250ms or 5s' },
  seconds: { units: TIMES, one: 1000, examples: '30s, 5m or 2h' },
  minutes: { units: TIMES, one: 60_000, examples: '30m, 8h or 1d' },
  hours: { units: TIMES, one: 3_600_000, examples: '12h or 2d' },
  days: { units: TIMES, one: 86_400_000, examples: '7d or 48h' },
};

const WRITTEN = /^(\d{1,15}) ?([A-Za-z]{1,3})$/;

/** Whether what is counted in this unit may be written with another. */
export function isMeasure(unit: string | null): unit is string {
  return unit !== null && Object.hasOwn(MEASURES, unit);
}

/** How many of `unit` a text comes to; undefined where it is no measure, or no whole number of them. */
export function readMeasure(text: string, unit: string): number | undefined {
  const measure = MEASURES[unit];
  const [, digits = '', name = ''] = WRITTEN.exec(text) ?? [];
  if (measure === undefined || !Object.hasOwn(measure.units, name)) return undefined;
  const count = (Number(digits) * (measure.units[name] ?? 0)) / measure.one;
  return Number.isSafeInteger(count) ? count : undefined;
}

/** What may stand in the place of a plain number of this unit, as the end of a rule. */
export function measureRule(unit: string): string {
  const { units = {}, examples = '' } = MEASURES[unit] ?? {};
  return `${unit}, or a whole number of ${unit} with a unit (${Object.keys(units).join(', ')}), such as ${examples}`;
}
