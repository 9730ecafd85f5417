import { writeField } from './field.ts';
import { type Parameter, parameterWords, withParameters } from './parameter.ts';

/** A node of the MIME tree (RFC 2046). */
export type Part = Leaf | Multipart;

/** A part with a body. */
export interface Leaf {
  readonly kind: 'leaf';
  /** The MIME fields, each with its CRLF. */
  readonly fields: string;
  /** The encoded body, as ASCII: text, or pieces of bytes. */
  readonly body: string | readonly Uint8Array[];
  /** Some line of the body begins with a dot. */
  readonly dotStuffing: boolean;
}

/** A part made of parts. */
export interface Multipart {
  readonly kind: 'multipart';
  readonly fields: string;
  readonly boundary: string;
  readonly parts: readonly Part[];
}

/** Contents up to this size are made one chunk: copying them costs less than many small writes. */
const ONE_CHUNK_BYTES = 64 * 1024;

/** Makes a multipart part (RFC 2046 §5.1). `parameters` are those besides the boundary. */
export function multipart(
  subtype: 'mixed' | 'alternative' | 'related' | 'report',
  parts: readonly Part[],
  boundary: string,
  parameters: readonly Parameter[] = [],
): Multipart {
  const all = [...parameters, ['boundary', boundary] as const];
  const fields = writeField('Content-Type', withParameters(`multipart/${subtype}`, all.map(parameterWords)));
  return { kind: 'multipart', fields, boundary, parts };
}

/** Whether some line of the part's bodies begins with a dot. Boundaries and header fields never do. */
export function needsDotStuffing(part: Part): boolean {
  return part.kind === 'leaf' ? part.dotStuffing : part.parts.some(needsDotStuffing);
}

/** Writes header fields and the tree below them: everything a message is made of, ending in CRLF. */
export function writeMessage(header: string, root: Part): Uint8Array[] {
  const writer = new ChunkWriter();
  writer.text(header);
  writePart(root, writer);
  if (!(root.kind === 'leaf' && endsLine(root.body))) writer.text('\r\n');
  return writer.finish();
}

function writePart(part: Part, writer: ChunkWriter): void {
  writer.text(`${part.fields}\r\n`);
  if (part.kind === 'leaf') {
    if (typeof part.body === 'string') writer.text(part.body);
    else for (const piece of part.body) writer.bytes(piece);
    return;
  }
  for (const [index, child] of part.parts.entries()) {
    // The CRLF before a boundary belongs to the boundary, so that bodies keep their exact end.
    writer.text(`${index === 0 ? '' : '\r\n'}--${part.boundary}\r\n`);
    writePart(child, writer);
  }
  writer.text(`\r\n--${part.boundary}--`);
}

/** An empty body ends a line too: that of the blank line before it. */
function endsLine(body: Leaf['body']): boolean {
  if (typeof body === 'string') return body === '' || body.endsWith('\r\n');
  const last = body.findLast((piece) => piece.length > 0);
  return last === undefined || last.at(-1) === 0x0a;
}

/** Gathers text and bytes in order; neighbouring texts become one chunk. */
class ChunkWriter {
  readonly #chunks: Uint8Array[] = [];
  #text = '';
  #sizeBytes = 0;

  text(text: string): void {
    this.#text += text;
  }

  bytes(bytes: Uint8Array): void {
    this.#flush();
    this.#push(bytes);
  }

  finish(): Uint8Array[] {
    this.#flush();
    const isSmall = this.#chunks.length > 1 && this.#sizeBytes <= ONE_CHUNK_BYTES;
    return isSmall ? [Buffer.concat(this.#chunks, this.#sizeBytes)] : this.#chunks;
  }

  #flush(): void {
    if (this.#text !== '') this.#push(Buffer.from(this.#text));
    this.#text = '';
  }

  #push(chunk: Uint8Array): void {
    this.#chunks.push(chunk);
    this.#sizeBytes += chunk.length;
  }
}
