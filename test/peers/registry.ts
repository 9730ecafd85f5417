/**
 * A package registry on this machine, which has what our lock files name and npm's cache holds, byte for byte as npm
 * downloaded it: so a package is installed by the real npm, and nothing is asked for outside.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '../..');

/** Of an entry in package-lock.json, what a registry tells of a version. */
interface LockedPackage {
  readonly version: string;
  readonly integrity?: string;
  readonly dev?: boolean;
  readonly optional?: boolean;
  readonly cpu?: string | readonly string[];
}

/** A version of a package, and where its bytes lie in npm's cache. */
interface Kept {
  readonly manifest: LockedPackage;
  readonly tarball: string;
}

/** Versions by the name of their package. */
type Packages = ReadonlyMap<string, readonly Kept[]>;

/** Whether npm builds it when it installs it: the lock file does not say. */
function gypfile(name: string): { readonly gypfile?: boolean } {
  const place = join(ROOT, 'node_modules', name, 'package.json');
  if (!existsSync(place)) return {};
  const { gypfile } = JSON.parse(readFileSync(place, 'utf8')) as { readonly gypfile?: boolean };
  return gypfile === undefined ? {} : { gypfile };
}

/**
 * What npm's cache has of these lock files' packages, but those for development; null if it lacks one that this machine
 * needs.
 */
export function keptPackages(locks: readonly string[]): Packages | null {
  const kept = new Map<string, Kept[]>();
  const cache = execFileSync('npm', ['config', 'get', 'cache'], { encoding: 'utf8', cwd: ROOT }).trim();
  for (const lock of locks) {
    const { packages } = JSON.parse(readFileSync(join(ROOT, lock), 'utf8')) as {
      readonly packages: Readonly<Record<string, LockedPackage>>;
    };
    for (const [place, manifest] of Object.entries(packages)) {
      const [, name] = /(?:^|\/)node_modules\/((?:@[^/]+\/)?[^/]+)$/.exec(place) ?? [];
      if (name === undefined || manifest.dev === true || manifest.integrity === undefined) continue;
      const tarball = join(cache, '_cacache/content-v2/sha512', contentPath(manifest.integrity));
      const versions = kept.get(name) ?? [];
      if (existsSync(tarball))
        kept.set(name, [...versions, { manifest: { ...manifest, ...gypfile(name) }, tarball }]);
      else if (manifest.optional !== true || manifest.cpu?.includes(process.arch)) return null;
    }
  }
  return kept;
}

/** Where npm's cache keeps what has this digest. */
function contentPath(integrity: string): string {
  const digest = Buffer.from(integrity.replace('sha512-', ''), 'base64').toString('hex');
  return join(digest.slice(0, 2), digest.slice(2, 4), digest.slice(4));
}

/** A registry that runs until it is closed. */
export interface Registry {
  readonly url: string;
  close(): void;
}

/** Serves these packages. */
export async function serveRegistry(packages: Packages): Promise<Registry> {
  const server = createServer((request, response) => {
    const path = decodeURIComponent((request.url ?? '').slice(1));
    const [name = '', file] = path.split('/-/');
    const kept = packages.get(name);
    const asked = kept?.find(({ manifest }) => file === `${manifest.version}.tgz`);
    if (asked !== undefined) response.end(readFileSync(asked.tarball));
    else if (kept !== undefined && file === undefined) {
      response.setHeader('Content-Type', 'application/json');
      response.end(JSON.stringify(document(name, kept)));
    } else response.writeHead(404).end('{}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  return { url, close: () => void server.close() };

  function document(name: string, kept: readonly Kept[]) {
    const versions = kept.map(({ manifest }) => {
      const { version, integrity } = manifest;
      const dist = { integrity, tarball: `${url}${name}/-/${version}.tgz` };
      return [version, { name, ...manifest, dist }] as const;
    });
    return { name, 'dist-tags': { latest: versions[0]?.[0] }, versions: Object.fromEntries(versions) };
  }
}
