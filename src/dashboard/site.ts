import { createHash } from 'node:crypto';
import { readdir, readFile, stat } from 'node:fs/promises';
import { extname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import type { Exchange } from '../http/exchange.ts';
import { Problem } from '../http/problem.ts';
import { withoutUrlEscapes } from '../lib/decode.ts';
import { BARE_POLICY, PAGE_OPENER, PAGE_POLICY } from './guard.ts';

/**
 * Serves the dashboard's page: the files built by `npm run web`. A path is looked up in the list of these files, so
 * that it cannot lead elsewhere. Files are read and compressed on first use, and cached; a new build shows at once.
 */

/** Most files of a build, and bytes of one: far more than there are. */
const MAX_FILES = 1000;
const MAX_FILE_BYTES = 4 * 1024 * 1024;
/** Smaller files gain nothing from compression. */
const MIN_COMPRESSED_BYTES = 1024;

const TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.ico': 'image/x-icon',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.map': 'application/json; charset=utf-8',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
  '.txt': 'text/plain; charset=utf-8',
  '.webmanifest': 'application/manifest+json',
  '.woff2': 'font/woff2',
};
/** Compressed already. */
const DENSE = new Set(['.ico', '.png', '.woff2']);
/** A year: names contain a hash of the content. */
const FOREVER = 'public, max-age=31536000, immutable';

type Coding = 'br' | 'gzip';

interface Loaded {
  readonly bytes: Buffer;
  readonly etag: string;
  readonly coded: Map<Coding, Promise<Buffer>>;
}

/** A build: its files, and those already read. */
interface Build {
  /** The stamp of `index.html`, which every build rewrites. */
  readonly stamp: string;
  readonly paths: ReadonlySet<string>;
  readonly loaded: Map<string, Promise<Loaded>>;
}

/** Paths that can only be mistakes: if the page answered them, a monitor would take it for healthy. */
const NO_PAGE = /^\/(?:(?:assets|api|v3|preview|health|metrics|livez|readyz)(?:\/|$)|\.|\/)|\0/i;

const compressBrotli = promisify(brotliCompress);
const compressGzip = promisify(gzip);

/** See this file's comment. */
export class Site {
  readonly #directory: string;
  #build: Build | null = null;

  /** `directory`: the output of `npm run web`. */
  constructor(directory: string) {
    this.#directory = resolve(directory);
  }

  /** Answers a path: with the file of that name, otherwise the page. Throws 404 for a missing asset. */
  async answer(exchange: Exchange): Promise<void> {
    const build = await this.#current();
    const path = withoutUrlEscapes(exchange.path);
    if (build === null) return answerMissing(exchange);
    if (path !== '/index.html' && build.paths.has(path)) await this.#answerFile(exchange, build, path);
    else if (isPage(path)) await this.#answerFile(exchange, build, '/index.html');
    else throw new Problem(404, 'not_found', 'There is nothing here.');
  }

  async #answerFile(exchange: Exchange, build: Build, path: string): Promise<void> {
    const file = await this.#load(build, path);
    const type = extname(path);
    const isAsset = path.startsWith('/assets/');
    exchange.setHeader('Content-Security-Policy', type === '.html' ? PAGE_POLICY : BARE_POLICY);
    if (type === '.html') exchange.setHeader(...PAGE_OPENER);
    exchange.setHeader('Cache-Control', type === '.html' ? 'no-store' : isAsset ? FOREVER : 'no-cache');
    const coding = codingFor(exchange.headers['accept-encoding'], file, type);
    exchange.setHeader('Vary', 'Accept-Encoding');
    // Each content coding is a separate representation (RFC 9110 §8.8.3.3).
    const etag = coding === null ? `"${file.etag}"` : `"${file.etag}-${coding}"`;
    if (exchange.headers['if-none-match'] === etag) return exchange.empty(304, { ETag: etag });
    const body = coding === null ? file.bytes : await compressed(file, coding);
    exchange.send(200, TYPES[type] ?? 'application/octet-stream', body, {
      ETag: etag,
      ...(coding !== null && { 'Content-Encoding': coding }),
    });
  }

  /** The current build; null if there is none. */
  async #current(): Promise<Build | null> {
    const stamp = await stampOf(join(this.#directory, 'index.html'));
    if (stamp === null) this.#build = null;
    else if (this.#build?.stamp !== stamp)
      this.#build = { stamp, paths: await pathsIn(this.#directory), loaded: new Map() };
    return this.#build;
  }

  #load(build: Build, path: string): Promise<Loaded> {
    const known = build.loaded.get(path);
    if (known !== undefined) return known;
    const loaded = load(join(this.#directory, path));
    build.loaded.set(path, loaded);
    // During a new build, a file may be missing for a moment.
    loaded.catch(() => build.loaded.delete(path));
    return loaded;
  }
}

function answerMissing(exchange: Exchange): void {
  exchange.send(503, 'text/html; charset=utf-8', SITE_MISSING, {
    'Content-Security-Policy': BARE_POLICY,
    'Cache-Control': 'no-store',
  });
}

/** Whether a path without a file belongs to the page. */
function isPage(path: string): boolean {
  return !NO_PAGE.test(path);
}

async function stampOf(file: string): Promise<string | null> {
  try {
    const { mtimeMs, size, ino } = await stat(file);
    return `${mtimeMs} ${size} ${ino}`;
  } catch {
    return null;
  }
}

async function pathsIn(directory: string): Promise<ReadonlySet<string>> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile() && !entry.name.startsWith('.')).slice(0, MAX_FILES);
  return new Set(files.map(({ parentPath, name }) => join(parentPath, name).slice(directory.length)));
}

async function load(file: string): Promise<Loaded> {
  const { size } = await stat(file);
  if (size > MAX_FILE_BYTES) throw new Error(`${file} is too large to be served`);
  const bytes = await readFile(file);
  const etag = createHash('sha256').update(bytes).digest('base64url').slice(0, 22);
  return { bytes, etag, coded: new Map() };
}

/**
 * The best content coding that a client accepts; null for none. The page itself is small and never compressed, so that
 * the question of guessing its content by length (BREACH) does not arise.
 */
function codingFor(accepted: string | undefined, { bytes }: Loaded, type: string): Coding | null {
  if (type === '.html' || DENSE.has(type) || bytes.length < MIN_COMPRESSED_BYTES) return null;
  const taken = (accepted ?? '')
    .toLowerCase()
    .split(',')
    .map((coding) => coding.replaceAll(' ', ''));
  const takes = (name: Coding) =>
    taken.some(
      (coding) => coding === name || (coding.startsWith(`${name};q=`) && !/q=0(?:\.0*)?$/.test(coding)),
    );
  return takes('br') ? 'br' : takes('gzip') ? 'gzip' : null;
}

function compressed(file: Loaded, coding: Coding): Promise<Buffer> {
  const known = file.coded.get(coding);
  if (known !== undefined) return known;
  const made =
    coding === 'gzip'
      ? compressGzip(file.bytes, { level: 9 })
      : // Quality 11 takes fifty times as long for a tenth less.
        compressBrotli(file.bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } });
  file.coded.set(coding, made);
  return made;
}

/** Shown where the dashboard's page was not built: what to do, and what works without it. */
const SITE_MISSING = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Waybill</title>
</head>
<body>
<main>
<h1>Waybill is running; its dashboard is not built yet</h1>
<p>In the folder that Waybill was started from, run <code>npm start</code>, which builds it once, or <code>npm run web</code>
while the server runs. Then load this page again.</p>
<p>Everything else works: mail is accepted and delivered. For machines: <a href="/health">/health</a>,
<a href="/metrics">/metrics</a>.</p>
</main>
</body>
</html>
`;
