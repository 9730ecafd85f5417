/**
 * Whether what npm installed is whole: `node tools/check-install.ts ROOT`. npm passes over an optional package that it could not
 * download and still exits 0, so its word is not enough. Prints what is wrong and exits 1, or says nothing.
 */
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';

/** Of `package-lock.json`, what decides whether a package belongs on this machine. */
interface LockedPackage {
  readonly optional?: boolean;
  readonly os?: readonly string[];
  readonly cpu?: readonly string[];
  readonly libc?: readonly string[];
}

const root = resolve(process.argv[2] ?? '.');

/** What a list such as `["linux"]` or `["!win32"]` says of `here`. */
function allows(list: readonly string[] | undefined, here: string): boolean {
  if (list === undefined || list.includes(here)) return true;
  return list.every((name) => name.startsWith('!') && name !== `!${here}`);
}

function libc(): string {
  const { header } = process.report.getReport() as { header: { glibcVersionRuntime?: string } };
  return header.glibcVersionRuntime === undefined ? 'musl' : 'glibc';
}

function missingPackages(): string[] {
  const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
    readonly packages?: Readonly<Record<string, LockedPackage>>;
  };
  const ownLibc = libc();
  return (
    Object.entries(lock.packages ?? {})
      // An optional package without a platform is one that only those of other platforms need.
      .filter(([, { optional, os }]) => !optional || os !== undefined)
      .filter(([, { os, cpu }]) => allows(os, process.platform) && allows(cpu, process.arch))
      .filter(([, wanted]) => allows(wanted.libc, ownLibc))
      .map(([place]) => place)
      .filter((place) => place !== '' && !existsSync(join(root, place, 'package.json')))
  );
}

/** Loads what the program stands on, the database's machine code too. */
function unusablePackages(): string[] {
  const require = createRequire(join(root, 'package.json'));
  const { dependencies = {} } = require('./package.json') as { dependencies?: Record<string, string> };
  return Object.keys(dependencies).flatMap((name) => {
    try {
      const loaded: unknown = require(name);
      if (name === 'better-sqlite3') new (loaded as new (file: string) => object)(':memory:');
      return [];
    } catch (error) {
      return [
        `${name} cannot be loaded: ${error instanceof Error ? error.message.split('\n', 1)[0] : error}`,
      ];
    }
  });
}

const missing = missingPackages();
const faults = missing.length > 0 ? missing.map((place) => `${place} is missing`) : unusablePackages();
const MOST = 5;
for (const fault of faults.slice(0, MOST)) process.stderr.write(`${fault}\n`);
if (faults.length > MOST) process.stderr.write(`and ${faults.length - MOST} more\n`);
process.exitCode = faults.length > 0 ? 1 : 0;
