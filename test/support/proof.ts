/**
 * What suites have in common that hold a promise by doing something again and again: how often, and what it came to. `npm test`
 * runs their short forms; `npm run prove` their long ones, and adds up what they tell (`test/prove/`).
 */
import { appendFileSync } from 'node:fs';

/** How often what was done or seen, in a reader's words: `{ kills: 40, lost: 0 }`. */
export type Figures = Readonly<Record<string, number>>;

/** What a proof came to. Of several runs, the figures are added up; of those in `most`, the largest stands. */
export interface Told {
  readonly proof: string;
  readonly figures: Figures;
  readonly most: Figures;
}

/** How often something is done: what `WAYBILL_TIMES_KILLS` says of `kills`, or else what every change must pass. */
export function times(what: string, usual: number): number {
  const name = `WAYBILL_TIMES_${what.toUpperCase()}`;
  const count = Number(process.env[name] ?? usual);
  if (!Number.isSafeInteger(count) || count < 0) throw new Error(`${name} must be a whole number`);
  return count;
}

/** How often it was done by runs before this one, so that each rolls other dice: `WAYBILL_BEFORE`. */
export function before(): number {
  return Number(process.env['WAYBILL_BEFORE'] ?? 0);
}

/** Tells what a proof came to, once it holds: prints it, and appends it to the file that `WAYBILL_TOLD` names. */
export function tell(proof: string, figures: Figures, most: Figures = {}): void {
  const said = [...Object.entries(figures), ...Object.entries(most)].map(
    ([what, count]) => `${count} ${what}`,
  );
  process.stdout.write(`${proof}: ${said.join(', ')}\n`);
  const file = process.env['WAYBILL_TOLD'];
  if (file !== undefined)
    appendFileSync(file, `${JSON.stringify({ proof, figures, most } satisfies Told)}\n`);
}
