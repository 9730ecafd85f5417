/** The titles of tests, as their suites have them. */
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { ROOT } from './tree.ts';

const COMMENT = /^\s*(?:\/\/|\/?\*)/;
const IMPORTED = /^(?:import|\} from) .*?'(\.[^']+)';$/gm;

/** Whether a suite has a test with this in its title: in its own file, or in one of `test/` that it is made of. */
export function hasTitle(file: string, title: string): boolean {
  return [...sourcesOf(file).values()].some((source) =>
    source.split('\n').some((line) => isTitled(line, title)),
  );
}

/** Within quotes, of whichever kind. */
function isTitled(line: string, title: string): boolean {
  if (COMMENT.test(line)) return false;
  return [title, title.replaceAll("'", "\\'")].some((text) => {
    const at = line.indexOf(text);
    return at > 0 && /['"`]/.test(line.slice(0, at)) && /['"`]/.test(line.slice(at + text.length));
  });
}

/** A suite's source, and those of the files of `test/` that it is made of. Empty where it is not there. */
function sourcesOf(file: string, seen = new Map<string, string>()): ReadonlyMap<string, string> {
  const path = join(ROOT, file);
  if (seen.has(file) || !existsSync(path)) return seen;
  const source = readFileSync(path, 'utf8');
  seen.set(file, source);
  for (const [, name = ''] of source.matchAll(IMPORTED)) {
    const imported = join(dirname(file), name);
    if (imported.startsWith('test/')) sourcesOf(imported, seen);
  }
  return seen;
}
