import { isUtf8 } from 'node:buffer';
import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import type { Message } from '../client/message.ts';
import type { RawEnvelope } from '../client/raw.ts';
import type { Priority } from '../domain/message.ts';
import { readError } from '../lib/error.ts';
import { Exit } from './exit.ts';
import { readInput, type Terminal } from './terminal.ts';

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

/** What stands for the standard input. */
const STANDARD_INPUT = '-';
/** Most bytes that are read from the standard input; api.max_message_bytes of the server decides before that. */
const MAX_PIPED = 128 * 1024 * 1024;

/** Reads the options, the files they name, and the standard input where it is meant. Throws `Exit`. */
export async function draftOf(given: DraftOptions, terminal: Terminal): Promise<Draft> {
  const options = await withInput(given, terminal);
  const { from, to, tag = [], sendAt, priority, raw } = options;
  if (raw === undefined) return { kind: 'message', message: messageOf(options) };
  const useless = CONTENTS.filter((name) => options[name] !== undefined);
  if (useless.length > 0)
    throw new Exit(2, `--raw is a finished message; it cannot be given --${useless.join(', --')} as well.`);
  const content = raw === STANDARD_INPUT ? await readInput(terminal, MAX_PIPED) : readBytes(raw);
  return { kind: 'raw', content, envelope: { from, to, tags: tag, sendAt, priority } };
}

/** With the standard input in the place of `-`; and as the text where nothing else is the body and something is piped in. */
async function withInput(options: DraftOptions, terminal: Terminal): Promise<DraftOptions> {
  const { text, html, attach, raw } = options;
  const asked = [text, html, raw].filter((value) => value === STANDARD_INPUT).length;
  if (asked > 1) throw new Exit(2, 'The standard input can be read once: give - to --text, --html or --raw.');
  if (raw !== undefined) return options;
  const isBare = text === undefined && html === undefined && attach === undefined;
  if (asked === 0 && (!isBare || terminal.isTyped())) return options;
  const bytes = await readInput(terminal, MAX_PIPED);
  if (asked === 0 && bytes.length === 0) return options;
  if (!isUtf8(bytes)) throw new Exit(1, 'Nothing was sent: the standard input is not UTF-8.');
  const input = bytes.toString();
  return html === STANDARD_INPUT ? { ...options, html: input } : { ...options, text: input };
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
