/** A copy of the working tree in which bugs may be made. */
import { execFileSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type Edit, edited } from './mutant.ts';

/** The root of the repository that this file lies in. */
export const ROOT = join(import.meta.dirname, '../..');

/** What git ignores of these names is linked to: what was installed, and the page that was built. */
const LINKED = /(^|\/)(node_modules|dist)\/$/;

/** A copy of the working tree, in the folder for temporary files. */
export class Tree {
  readonly root: string;

  /** Copies what git knows of, and what it could, as it lies there now; links to what was installed. */
  constructor() {
    this.root = mkdtempSync(join(tmpdir(), 'waybill-mutants-'));
    for (const file of listed('--cached', '--others')) {
      if (!existsSync(join(ROOT, file))) continue;
      mkdirSync(dirname(join(this.root, file)), { recursive: true });
      cpSync(join(ROOT, file), join(this.root, file));
    }
    for (const folder of listed('--others', '--ignored', '--directory').filter((name) => LINKED.test(name))) {
      const place = join(this.root, folder.slice(0, -1));
      mkdirSync(dirname(place), { recursive: true });
      symlinkSync(join(ROOT, folder), place);
    }
  }

  /** Makes the edits, does the work, and takes them back. Throws `StaleMutant` when one cannot be made. */
  async with<T>(edits: readonly Edit[], work: () => Promise<T>): Promise<T> {
    const sources = new Map(edits.map(({ file }) => [file, this.#read(file)]));
    try {
      for (const edit of edits)
        writeFileSync(join(this.root, edit.file), edited(this.#read(edit.file), edit));
      return await work();
    } finally {
      for (const [file, source] of sources) writeFileSync(join(this.root, file), source);
    }
  }

  /** Removes the copy. */
  remove(): void {
    rmSync(this.root, { recursive: true, force: true });
  }

  #read(file: string): string {
    return readFileSync(join(this.root, file), 'utf8');
  }
}

function listed(...which: readonly string[]): string[] {
  const git = ['ls-files', '-z', '--exclude-standard', ...which];
  const names = execFileSync('git', git, { cwd: ROOT, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 });
  return names.split('\0').filter((name) => name !== '');
}
