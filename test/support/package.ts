/** The package as npm packs it, installed in a folder. */
import { execFile } from 'node:child_process';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { locate } from '../peers/need.ts';
import { untilFound } from '../peers/watch.ts';

const run = promisify(execFile);
const ROOT = join(import.meta.dirname, '../..');
/** What the package is made of, and what a clone must have besides to make it. */
const SOURCES = [
  'src',
  'web',
  'tools',
  // A package of ours, which package.json names.
  'test/peers/cypress',
  'package.json',
  'package-lock.json',
  'tsconfig.json',
  'tsconfig.build.json',
  'tsconfig.commonjs.json',
  'waybill',
];
const DOCUMENTS = [
  'README.md',
  'ARCHITECTURE.md',
  'CHANGELOG.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
  'LICENSE',
  'NOTICE',
  'docs',
  'bench/README.md',
  'deploy',
];

/** The file that stands beside the tarball that could not be made. */
const FAILED = 'end badly';

/** Of `package.json`, what tests look at. */
interface PackageJson {
  readonly version: string;
  readonly dependencies: Readonly<Record<string, string>>;
  readonly bin: { readonly waybill: string };
  readonly scripts: { readonly prepack: string };
}

/** This tree's `package.json`. */
export function packageJson(): PackageJson {
  return JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as PackageJson;
}

/** The tarball of this tree, once it is asked for: what costs most of a minute is done once for all files of tests. */
let packed: Promise<string> | null = null;

/** Packs this tree into `folder`; gives the tarball. */
export async function packTree(folder: string): Promise<string> {
  packed ??= packOnce();
  const tarball = join(folder, basename(await packed));
  cpSync(await packed, tarball);
  return tarball;
}

/** Packs in the folder that `npm test` names to all its processes: the first that comes makes it, and others wait. */
async function packOnce(): Promise<string> {
  const shared = process.env['WAYBILL_PACKED'];
  if (shared === undefined) {
    const folder = mkdtempSync(join(tmpdir(), 'waybill-packed-'));
    process.once('exit', () => rmSync(folder, { recursive: true }));
    return await pack(folder);
  }
  try {
    mkdirSync(shared);
  } catch {
    // Under the name of the tarball npm writes little by little.
    const done = await untilFound(shared, () => readdirSync(shared).find((name) => name.startsWith('end ')));
    if (done === FAILED) throw new Error('whoever packed the tree could not');
    return join(shared, `waybill-${packageJson().version}.tgz`);
  }
  let end = FAILED;
  try {
    const tarball = await pack(shared);
    end = 'end well';
    return tarball;
  } finally {
    writeFileSync(join(shared, end), '');
  }
}

/** Builds in a copy, so that tests do not meet in one `dist`: a fresh clone, in which nothing is installed yet. */
async function pack(folder: string): Promise<string> {
  const copy = join(folder, 'tree');
  const isOurs = (path: string) => basename(path) !== 'node_modules';
  for (const name of [...SOURCES, ...DOCUMENTS])
    cpSync(join(ROOT, name), join(copy, name), { recursive: true, filter: isOurs });
  believeTypes(copy);
  const { PATH, ...environment } = ownEnvironment();
  const env = { ...environment, PATH: `${givingOurPackages(folder, copy)}${delimiter}${PATH}` };
  await run(locate('npm') ?? 'npm', ['pack', '--silent', '--pack-destination', folder], { cwd: copy, env });
  rmSync(copy, { recursive: true });
  return join(folder, `waybill-${packageJson().version}.tgz`);
}

/** Makes a folder with an npm that installs our packages in `copy`, and nothing else: the real one would download them. */
function givingOurPackages(folder: string, copy: string): string {
  const programs = join(folder, 'programs');
  mkdirSync(programs);
  const asked = `[ "$1 $2 $3" = "ci --prefix ${copy}" ] || exit 9`;
  const linked = `mkdir node_modules && ln -s "${ROOT}"/node_modules/* "${ROOT}/node_modules/.bin" node_modules/`;
  writeFileSync(join(programs, 'npm'), `#!/bin/sh\n${asked}\n${linked}\n`, { mode: 0o755 });
  return programs;
}

/** Has a copy of this tree compiled without a check of its types: they are checked before its tests. */
function believeTypes(copy: string): void {
  const compiler = join(copy, 'tsconfig.build.json');
  writeFileSync(compiler, readFileSync(compiler, 'utf8').replace('"noEmit": false', '$&, "noCheck": true'));
}

/**
 * Packs this tree and installs it in `folder` as npm does, but for the packages it depends on: those are links to
 * ours, so that nothing has to be downloaded. Gives the installed command.
 */
export async function installPackage(folder: string): Promise<string> {
  const tarball = await packTree(folder);
  const place = join(folder, 'node_modules/waybill');
  mkdirSync(place, { recursive: true });
  await run('tar', ['-xzf', tarball, '--strip-components=1', '-C', place]);
  for (const name of Object.keys(packageJson().dependencies)) linkPackage(name, folder);
  const command = join(folder, 'node_modules/.bin/waybill');
  mkdirSync(dirname(command));
  symlinkSync(join('../waybill', packageJson().bin.waybill), command);
  return command;
}

/** Makes one of our packages one of `folder`'s. */
export function linkPackage(name: string, folder: string): void {
  const place = join(folder, 'node_modules', name);
  mkdirSync(dirname(place), { recursive: true });
  symlinkSync(join(ROOT, 'node_modules', name), place);
}

/** Our environment without `WAYBILL_…`, and with the Node.js that runs the tests first in PATH. */
export function ownEnvironment(): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(([name]) => !name.startsWith('WAYBILL_'));
  const path = `${dirname(process.execPath)}${delimiter}${process.env['PATH']}`;
  return { ...Object.fromEntries(kept), PATH: path };
}
