import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isRecord } from '../config/kinds.ts';
import type { TemplateTexts, TemplateValues } from '../domain/template.ts';
import { decodeJson } from '../lib/decode.ts';
import { readError } from '../lib/error.ts';
import { Exit } from './terminal.ts';

/**
 * Templates as files: a folder each, named by its alias, with `template.json`, `subject.txt`, `body.html` and `body.txt`.
 */

/** A template of a folder. */
export interface FolderTemplate extends TemplateTexts {
  readonly alias: string;
  readonly name: string;
  /** The one that was pulled; null: none was. */
  readonly version: number | null;
  readonly sample: TemplateValues;
}

const FACTS = 'template.json';
const SUBJECT = 'subject.txt';
const HTML = 'body.html';
const TEXT = 'body.txt';

/** Every template of a folder, by alias. Throws `Exit`. */
export async function readFolder(dir: string): Promise<FolderTemplate[]> {
  const found: FolderTemplate[] = [];
  for (const alias of await foldersIn(dir)) found.push(await readOne(dir, alias));
  if (found.length === 0) throw new Exit(1, `${dir} has no templates: each is a folder with a ${FACTS}.`);
  return found;
}

async function foldersIn(dir: string): Promise<string[]> {
  try {
    const entries = await readdir(dir, { withFileTypes: true });
    const folders = entries.filter((entry) => entry.isDirectory() && !entry.name.startsWith('.'));
    return folders.map(({ name }) => name).sort();
  } catch (error) {
    throw new Exit(1, `${dir} cannot be read: ${readError(error)}`);
  }
}

async function readOne(dir: string, alias: string): Promise<FolderTemplate> {
  const read = (file: string) => textOf(join(dir, alias, file));
  const facts = objectIn((await read(FACTS)) ?? '{}', join(dir, alias, FACTS));
  const { name = alias, version = null, sample = {} } = facts;
  const wrong = (what: string) => new Exit(1, `${join(dir, alias, FACTS)}: ${what}`);
  if (typeof name !== 'string') throw wrong('name must be a text.');
  if (version !== null && !Number.isInteger(version)) throw wrong('version must be a number, or left out.');
  if (!isRecord(sample)) throw wrong('sample must be an object.');
  // Editors end files in a line break; a subject has none.
  const subject = ((await read(SUBJECT)) ?? '').replace(/\r?\n$/, '');
  const [html, text] = [await read(HTML), await read(TEXT)];
  return { alias, name, version: version === null ? null : Number(version), sample, subject, html, text };
}

/** The text of a file; null: it is not there. */
async function textOf(path: string): Promise<string | null> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null;
    throw new Exit(1, `${path} cannot be read: ${readError(error)}`);
  }
}

/** The object that a JSON text is. Throws `Exit`, which names the file. */
export function objectIn(text: string, path: string): TemplateValues {
  const value = decodeJson(text);
  if (isRecord(value)) return value;
  throw new Exit(1, `${path} must be a JSON object.`);
}

/** Writes a template into its folder; what it does not have is removed there. */
export async function writeFolder(
  dir: string,
  { alias, name, version, sample, subject, html, text }: FolderTemplate,
): Promise<void> {
  const folder = join(dir, alias);
  await mkdir(folder, { recursive: true });
  const facts = `${JSON.stringify({ name, version, sample }, null, 2)}\n`;
  await writeFile(join(folder, FACTS), facts);
  await writeFile(join(folder, SUBJECT), `${subject}\n`);
  for (const [file, content] of [
    [HTML, html],
    [TEXT, text],
  ] as const)
    if (content === null) await rm(join(folder, file), { force: true });
    else await writeFile(join(folder, file), content);
}
