/** The recipes of the documents as they stand there, and what it takes to run them. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { recipesOf } from '../../web/src/pages/first-steps/snippets.ts';

/** Those of docs/recipes.md, by name. Names of those over SMTP begin with `smtp_`. */
export const RECIPES = recipesIn('recipes.md');

/** Whether a program is there and does this. */
export function works(program: string, ...args: readonly string[]): boolean {
  try {
    execFileSync(program, args, { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

/** The marked code blocks of a document, by name. */
export function recipesIn(document: string): ReadonlyMap<string, string> {
  return recipesOf(readFileSync(join(import.meta.dirname, '../../docs', document), 'utf8'));
}
