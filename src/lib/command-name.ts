import { relative } from 'node:path';
import { shellWord } from './shell-word.ts';

/** What the program is called by who reads this: compiled, it runs from a package that npm has installed. */
export const COMMAND = import.meta.url.endsWith('.ts') ? './waybill' : 'waybill';

/** ` --data DIR`, as a command needs it that is pasted here; empty where it finds that directory without. */
export function dataOption(dataDir: string): string {
  return relative(process.cwd(), dataDir) === 'data' ? '' : ` --data ${shellWord(dataDir)}`;
}
