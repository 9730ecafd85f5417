import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import type { Message } from '../client/message.ts';
import type { RawEnvelope } from '../client/raw.ts';
import type { Priority } from '../domain/message.ts';
import { readError } from '../lib/read-error.ts';
import { Exit } from './exit.ts';

/** What `waybill send` is told of the message itself. */
export interface DraftOptions {
  readonly from: string;
  readonly to: readonly string[];
  readonly cc?: readonly string[];
  readonly bcc?: readonly string[];
  readonly subject?: string;
  readonly text?: string;
  readonly html?: string;
  readonly attach?: readonly string[];
  readonly header?: readonly string[];
  readonly tag?: readonly string[];
  readonly priority?: Priority;
  readonly sendAt?: string;
  readonly raw?: string;
}

/** What is to be sent: fields, or a finished message with its envelope. */
export type Draft =
  | { readonly kind: 'message'; readonly message: Message }
  | { readonly kind: 'raw'; readonly content: Uint8Array; readonly envelope: RawEnvelope };

/** A header field as it stands in a message: its name, and its value behind the colon. */
const HEADER_LINE = /^([^:\s]+):\s*(.*)$/s;
/** Options that say what a finished message says itself. */
const CONTENTS = ['cc', 'bcc', 'subject', 'text', 'html', 'attach', 'header'] as const;

/** Reads the options, and the files they name. Throws `Exit`. */
export function draftOf(options: DraftOptions): Draft {
  const { from, to, tag = [], sendAt, priority, raw } = options;
  if (raw === undefined) return { kind: 'message', message: messageOf(options) };
  const useless = CONTENTS.filter((name) => options[name] !== undefined);
  if (useless.length > 0)
    throw new Exit(2, `--raw is a finished message; it cannot be given --${useless.join(', --')} as well.`);
  return { kind: 'raw', content: readBytes(raw), envelope: { from, to, tags: tag, sendAt, priority } };
}

function messageOf(options: DraftOptions): Message {
  const { from, to, cc, bcc, subject, text, html, tag, sendAt, priority } = options;
  const attachments = (options.attach ?? []).map((path) => ({
    filename: basename(path),
    content: readBytes(path),
  }));
  return {
    from,
    to,
    cc,
    bcc,
    subject,
    text,
    html,
    tags: tag,
    sendAt,
    priority,
    headers: headersOf(options),
    attachments,
  };
}

function headersOf({ header = [] }: DraftOptions): Record<string, string> {
  const fields = header.map((line) => {
    const [, name, value] = HEADER_LINE.exec(line) ?? [];
    if (name === undefined || value === undefined)
      throw new Exit(
        2,
        `--header must be a name and a value, such as 'Reply-To: me@example.org'; not '${line}'.`,
      );
    return [name, value] as const;
  });
  if (new Set(fields.map(([name]) => name.toLowerCase())).size < fields.length)
    throw new Exit(2, '--header names a field twice.');
  return Object.fromEntries(fields);
}

function readBytes(path: string): Uint8Array {
  try {
    return readFileSync(path);
  } catch (error) {
    throw new Exit(1, `Nothing was sent: ${path} cannot be read: ${readError(error)}`);
  }
}
