import type { Effort } from './pairs.ts';

/** What the command line says of the effort. */
export type Choice = Readonly<Partial<Record<keyof Effort, string>>>;

/** How much is done: so that figures can be believed, or only to see that all of it runs. */
export const EFFORTS = {
  full: { pairs: 5, seconds: 10, messages: 20_000, deep: 1_000_000 },
  quick: { pairs: 1, seconds: 2, messages: 3000, deep: 100_000 },
} as const satisfies Readonly<Record<string, Effort>>;

/** An effort, with what the command line says otherwise. Throws for what is no number from 1 on. */
export function effortOf(usual: Effort, choice: Choice): Effort {
  const read = (name: keyof Effort): number => {
    const text = choice[name];
    if (text === undefined) return usual[name];
    if (!/^[1-9]\d*$/.test(text)) throw new Error(`--${name} must be a number from 1 on`);
    return Number(text);
  };
  return { pairs: read('pairs'), seconds: read('seconds'), messages: read('messages'), deep: read('deep') };
}
