import type { Readable, Writable } from 'node:stream';
import { Busboy as FastifyBusboy } from '@fastify/busboy';
import busboy from 'busboy';
import { fieldText, MultipartParser, type MultipartPart, mediaTypeOf } from '../../src/http/multipart.ts';
import { Problem } from '../../src/http/problem.ts';

/** One form, read by our parser and by two others, told in the same words. */

/** A part as a reader understood it; bytes as Latin-1 text. */
export interface ReadPart {
  readonly name: string | undefined;
  /** Null for a plain field. */
  readonly filename: string | null;
  /** `type/subtype`. */
  readonly type: string;
  readonly body: string;
}

/** What a reader made of a form. */
export type Reading = { readonly parts: readonly ReadPart[] } | { readonly refused: string };

export const BOUNDARY = 'xYz';

const CONTENT_TYPE = `multipart/form-data; boundary=${BOUNDARY}`;
const LIMITS = { maxParts: 1000, maxHeaderBytes: 8192, maxHeaderLines: 100, maxFieldBytes: 1_000_000 };
/** Turns of the event loop after which a reader that has neither ended nor failed never will. */
const MAX_TURNS = 50;

/** Our parser. */
export function readOurs(form: Buffer): Reading {
  const parser = new MultipartParser(BOUNDARY, LIMITS);
  try {
    parser.push(form);
    return { parts: parser.finish().map(toPart) };
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    return { refused: error.detail };
  }
}

function toPart(part: MultipartPart): ReadPart {
  const { type, params } = mediaTypeOf(part);
  // The bodies of generated fields are any bytes; only one that says it is text is read as such.
  if (part.filename === null && params.has('charset')) fieldText(part);
  return { name: part.name, filename: part.filename, type, body: joined(part.chunks) };
}

/** busboy, with paths kept and names in UTF-8, as browsers send them. */
export function readBusboy(form: Buffer): Promise<Reading> {
  const reader = busboy({
    headers: { 'content-type': CONTENT_TYPE },
    preservePath: true,
    defParamCharset: 'utf8',
    defCharset: 'latin1',
  });
  const parts: Open[] = [];
  reader.on('field', (name, value, { mimeType }) => {
    // A charset that it does not know leaves no value at all.
    const text = typeof value === 'string' ? value : '';
    parts.push({ name, filename: null, type: mimeType, chunks: [Buffer.from(text, 'latin1')] });
  });
  reader.on('file', (name, stream, { filename, mimeType }) => {
    parts.push(openFile(name, stream, filename, mimeType));
  });
  return outcome(reader, form, parts);
}

/** @fastify/busboy, set up alike. */
export function readFastifyBusboy(form: Buffer): Promise<Reading> {
  const reader = new FastifyBusboy({
    headers: { 'content-type': CONTENT_TYPE },
    preservePath: true,
    defCharset: 'latin1',
  });
  const parts: Open[] = [];
  reader.on('field', (name, value, _nameTruncated, _truncated, _encoding, type) => {
    parts.push({ name, filename: null, type, chunks: [Buffer.from(value, 'latin1')] });
  });
  reader.on('file', (name, stream, filename, _encoding, type) => {
    parts.push(openFile(name, stream, filename, type));
  });
  return outcome(reader, form, parts);
}

interface Open extends Omit<ReadPart, 'body'> {
  readonly chunks: Buffer[];
}

function openFile(
  name: string | undefined,
  stream: Readable,
  filename: string | undefined,
  type: string,
): Open {
  const chunks: Buffer[] = [];
  stream.on('data', (chunk: Buffer) => chunks.push(chunk));
  // The reader's own error says the same.
  stream.on('error', () => undefined);
  return { name, filename: filename ?? '', type, chunks };
}

async function outcome(reader: Writable, form: Buffer, parts: readonly Open[]): Promise<Reading> {
  let ended: Reading | null = null;
  reader.on('error', (error: Error) => {
    ended ??= { refused: error.message };
  });
  reader.on('finish', () => {
    ended ??= { parts: parts.map(({ chunks, ...part }) => ({ ...part, body: joined(chunks) })) };
  });
  reader.end(form);
  for (let turn = 0; ended === null && turn < MAX_TURNS; turn++) await new Promise(setImmediate);
  return ended ?? { refused: 'it neither ends nor fails' };
}

function joined(chunks: readonly Buffer[]): string {
  return Buffer.concat(chunks).toString('latin1');
}
