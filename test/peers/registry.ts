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
}

/** A version of a package, and where its bytes lie in npm's cache. */
interface Kept {
  readonly manifest: LockedPackage;
  readonly tarball: string;
}

/** Whether npm builds it when it installs it: the lock file does not say. */
function gypfile(name: string): { readonly gypfile?: boolean } {
  const place = join(ROOT, 'node_modules', name, 'package.json');
  if (!existsSync(place)) return {};
  const { gypfile } = JSON.parse(readFileSync(place, 'utf8')) as { readonly gypfile?: boolean };
  return gypfile === undefined ? {} : { gypfile };
}

/** What npm's cache has of these lock files' packages, but those for development, by name. */
export function keptPackages(locks: readonly string[]): ReadonlyMap<string, Kept> {
  const kept = new Map<string, Kept>();
  const cache = execFileSync('npm', ['config', 'get', 'cache'], { encoding: 'utf8', cwd: ROOT }).trim();
  for (const lock of locks) {
    const { packages } = JSON.parse(readFileSync(join(ROOT, lock), 'utf8')) as {
      readonly packages: Readonly<Record<string, LockedPackage>>;
    };
    for (const [place, manifest] of Object.entries(packages)) {
      const [, name] = /^node_modules\/((?:@[^/]+\/)?[^/]+)$/.exec(place) ?? [];
      if (name === undefined || manifest.dev === true || manifest.integrity === undefined) continue;
      const digest = Buffer.from(manifest.integrity.replace('sha512-', ''), 'base64').toString('hex');
      const tarball = join(
        cache,
        '_cacache/content-v2/sha512',
        digest.slice(0, 2),
        digest.slice(2, 4),
        digest.slice(4),
      );
      if (existsSync(tarball)) kept.set(name, { manifest: { ...manifest, ...gypfile(name) }, tarball });
    }
  }
  return kept;
}

/** A registry that runs until it is closed. */
export interface Registry {
  readonly url: string;
  close(): void;
}

/** Serves these packages. */
export async function serveRegistry(packages: ReadonlyMap<string, Kept>): Promise<Registry> {
  const server = createServer((request, response) => {
    const path = decodeURIComponent((request.url ?? '').slice(1));
    const [name = '', wanted] = path.split('/-/');
    const kept = packages.get(name);
    if (kept === undefined) response.writeHead(404).end('{}');
    else if (wanted === undefined) {
      const { version, integrity } = kept.manifest;
      const dist = { integrity, tarball: `${url}${name}/-/${version}.tgz` };
      const versions = { [version]: { name, ...kept.manifest, dist } };
      response.setHeader('Content-Type', 'application/json');
      response.end(JSON.stringify({ name, 'dist-tags': { latest: version }, versions }));
    } else response.end(readFileSync(kept.tarball));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  return { url, close: () => void server.close() };
}
