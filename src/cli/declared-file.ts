import { createReadStream } from 'node:fs';
import { access } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { isRecord } from '../config/kinds.ts';
import { readYaml } from '../config/yaml.ts';
import { readError } from '../lib/error.ts';
import { OperationError } from '../operations/call.ts';
import type { RequestOf } from '../operations/table.ts';
import { Exit, readSecretFile, type Terminal } from './terminal.ts';

/** The file of a configuration as code (docs/configuration-as-code.md), and the files of secrets that it names. */

/** A file that was read. */
export interface DeclaredFile {
  readonly request: Required<Pick<RequestOf<'planConfiguration'>, 'configuration' | 'secrets'>>;
  /** The files of secrets that it names, and that are not there. */
  readonly missing: readonly string[];
  /** Does something with it; faults of the file are told with their lines. */
  told<T>(act: () => Promise<T>): Promise<T>;
}

/** The file name that means the standard input. */
export const STANDARD_INPUT = '-';
/** As much as an export may have. */
const MAX_BYTES = 16 * 1024 * 1024;
/** More keys than all sections together may have items with fields. */
const MAX_KEYS = 200_000;

/** Reads a file, and the secrets that it names. Throws `Exit`. */
export async function readDeclared(file: string, terminal: Terminal): Promise<DeclaredFile> {
  const name = file === STANDARD_INPUT ? 'Standard input' : file;
  const read = readYaml(await readText(file, name, terminal), MAX_KEYS);
  if (!read.ok) throw new Exit(2, read.rules.map((rule) => `${name}: ${rule}`).join('\n'));
  const configuration = read.root ?? {};
  if (!isRecord(configuration)) throw new Exit(2, `${name} must be a map of sections.`);
  const { secrets, missing } = await readSecrets(
    configuration,
    file === STANDARD_INPUT ? '.' : dirname(file),
  );
  return {
    request: { configuration, secrets },
    missing,
    told: async (act) => {
      try {
        return await act();
      } catch (error) {
        if (!(error instanceof OperationError)) throw error;
        const lineOf = (fault: string) => {
          const path = pathOf(fault, configuration);
          const line = path === null ? null : read.lineOf(path);
          return line === null ? fault : `line ${line}: ${fault}`;
        };
        const lines = error.message.split('\n').map(lineOf);
        throw new OperationError(error.code, lines.join('\n'), { cause: error });
      }
    },
  };
}

async function readText(file: string, name: string, { input }: Terminal): Promise<string> {
  const stream: AsyncIterable<Uint8Array> = file === STANDARD_INPUT ? input() : createReadStream(file);
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  try {
    for await (const chunk of stream) {
      bytes += chunk.length;
      if (bytes > MAX_BYTES) throw new Error(`it has more than ${MAX_BYTES} bytes`);
      chunks.push(chunk);
    }
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(chunks));
  } catch (error) {
    const why = error instanceof TypeError ? 'it is not text in UTF-8' : readError(error);
    throw new Exit(1, `${name} cannot be read: ${why}`);
  }
}

/** What the files hold that `_file` fields name, beside the file itself. */
async function readSecrets(configuration: Readonly<Record<string, unknown>>, folder: string) {
  const names = [configuration['relays'], configuration['webhooks']]
    .flat()
    .filter(isRecord)
    .flatMap((member) =>
      Object.entries(member).flatMap(([field, value]) =>
        field.endsWith('_file') && typeof value === 'string' ? [value] : [],
      ),
    );
  const found = new Map<string, string>();
  const missing: string[] = [];
  for (const name of new Set(names)) {
    const path = resolve(folder, name);
    if (await isThere(path)) found.set(name, await readSecretFile(path, 'secret', true));
    else missing.push(name);
  }
  return { secrets: Object.fromEntries(found), missing };
}

/** Whether a file is there; one that may not be read is. */
async function isThere(path: string): Promise<boolean> {
  try {
    await access(path);
    return true;
  } catch (error) {
    return !(error instanceof Error && 'code' in error && error.code === 'ENOENT');
  }
}

/** `keys[1]: rate_limt: …`, `delivery.default_relay: …`, `relays main: …`. */
const BY_PLACE = /^([a-z]+)\[(\d+)\](?:: ([a-z_]+))?/;
const BY_KEY = /^([a-z]+(?:\.[a-z_]+)+)/;
const BY_NAME = /^([a-z]+) ([^:]+): /;
const BY_SECTION = /^([a-z_]+): /;

/** Where in the file a fault is; null: it does not say. */
function pathOf(fault: string, configuration: Readonly<Record<string, unknown>>): (string | number)[] | null {
  const place = BY_PLACE.exec(fault);
  if (place !== null)
    return [place[1] ?? '', Number(place[2]), ...(place[3] === undefined ? [] : [place[3]])];
  const key = BY_KEY.exec(fault);
  if (key !== null) return (key[1] ?? '').split('.');
  const [, section = '', name] = BY_NAME.exec(fault) ?? [];
  const items = configuration[section];
  if (Array.isArray(items)) {
    const index = items.findIndex((item) => isRecord(item) && (item['name'] ?? item['alias']) === name);
    if (index >= 0) return [section, index];
  }
  const of = BY_SECTION.exec(fault);
  return of === null ? null : [of[1] ?? ''];
}
