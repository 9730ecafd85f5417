/** The recipes of docs/recipes.md as they stand there, and what it takes to run them. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The marked code blocks, by name. Names of those over SMTP begin with `smtp_`. */
export const RECIPES = recipesOf(readFileSync(join(import.meta.dirname, '../../docs/recipes.md'), 'utf8'));

/** Whether a program is there and does this. */
export function works(program: string, ...args: readonly string[]): boolean {
  try {
    execFileSync(program, args, { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

function recipesOf(markdown: string): ReadonlyMap<string, string> {
  const blocks = markdown.matchAll(/^```\w+ recipe=(\w+)\n(.*?)^```$/gms);
  return new Map([...blocks].map(([, name = '', code = '']) => [name, code]));
}
