import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Form } from './http-bodies.ts';
import { type LoadReport, parseReport } from './load-report.ts';
import type { Shape, ShapeKeys } from './provider-shapes.ts';

/** How long a load goes on. */
export type Amount = { readonly seconds: number } | { readonly messages: number };

/** Where the load goes, and how much of it. */
export interface HttpLoad {
  readonly port: number;
  readonly path: string;
  readonly key: string;
  readonly connections: number;
  readonly amount: Amount;
  /** Default: JSON of 5 KB. */
  readonly form?: Form;
  readonly sizeBytes?: number;
  readonly tls?: boolean;
  /** In the shape of a provider's API, instead of a form of ours: `path` and `form` say nothing then. */
  readonly shape?: Shape;
  /** What a client of SES signs with. */
  readonly signing?: Pick<ShapeKeys, 'accessKeyId' | 'secretAccessKey'>;
}

const PROGRAM = fileURLToPath(new URL('./http-load.ts', import.meta.url));

/** Runs the load in a process of its own. Throws when anything but what says that it was taken is answered. */
export async function runHttpLoad(load: HttpLoad): Promise<LoadReport> {
  const { port, path, key, connections, amount, form = 'json', sizeBytes = 5120, tls = false } = load;
  const { shape, signing } = load;
  const options = { port, path, key, connections, form, bytes: sizeBytes, ...amount };
  const args = Object.entries(options).flatMap(([name, value]) => [`--${name}`, String(value)]);
  const { stdout } = await promisify(execFile)(process.execPath, [
    PROGRAM,
    ...args,
    ...(tls ? ['--tls'] : []),
    ...(shape === undefined ? [] : ['--shape', shape]),
    ...(signing === undefined
      ? []
      : ['--access-key', signing.accessKeyId, '--signing-secret', signing.secretAccessKey]),
  ]);
  return parseReport(stdout);
}
