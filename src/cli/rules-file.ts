import { createReadStream } from 'node:fs';
import { readYaml } from '../config/yaml.ts';
import { readError } from '../lib/error.ts';
import { Exit } from './exit.ts';

/** The file name that means the standard input. */
const STANDARD_INPUT = '-';
/** As much as a configuration file may have. */
const MAX_BYTES = 1024 * 1024;

/** The list of rules of a YAML file: its section `routes`, or all of it. What is in the list is not looked at. */
export async function readRules(file: string): Promise<unknown> {
  const read = readYaml(await readText(file));
  if (!read.ok) throw new Exit(2, `${nameOf(file)}: ${read.rules[0] ?? ''}`);
  const { root } = read;
  if (Array.isArray(root)) return root;
  if (typeof root === 'object' && root !== null && 'routes' in root) return root.routes ?? [];
  throw new Exit(2, `${nameOf(file)} has neither a section routes nor a list of rules.`);
}

function nameOf(file: string): string {
  return file === STANDARD_INPUT ? 'The standard input' : file;
}

async function readText(file: string): Promise<string> {
  const stream = file === STANDARD_INPUT ? process.stdin : createReadStream(file);
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      if (bytes > MAX_BYTES) break;
      chunks.push(chunk);
    }
  } catch (error) {
    throw new Exit(1, `${nameOf(file)} cannot be read: ${readError(error)}`);
  }
  if (bytes > MAX_BYTES) throw new Exit(2, `${nameOf(file)} is larger than ${MAX_BYTES} bytes.`);
  return Buffer.concat(chunks).toString();
}
