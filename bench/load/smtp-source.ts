import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { promisify } from 'node:util';

/** What Postfix's `smtp-source` sends, and how. */
export interface SmtpLoad {
  readonly port: number;
  readonly messages: number;
  /** Connections at once. */
  readonly sessions: number;
  /** Of each message's body. */
  readonly sizeBytes: number;
  /** Whom it goes to, if not to the usual one. */
  readonly recipient?: string;
  /** Each session sends all its messages over one connection; else it opens one for every message. */
  readonly keepConnections: boolean;
}

const PROGRAM = '/usr/sbin/smtp-source';

/** Why this load cannot be made here; null when it can. */
export function smtpSourceMissing(): string | null {
  return existsSync(PROGRAM) ? null : 'smtp-source (of Postfix) is not installed';
}

/**
 * Sends messages, a command at a time; resolves when each has its 250. Throws when anything is refused: smtp-source
 * then ends with an error.
 */
export async function runSmtpSource(load: SmtpLoad): Promise<void> {
  const { port, messages, sessions, sizeBytes, keepConnections, recipient = 'recipient@example.net' } = load;
  const amount = ['-s', sessions, '-m', messages, '-l', sizeBytes].map(String);
  const mail = ['-f', 'sender@example.com', '-t', recipient];
  const keep = keepConnections ? ['-d'] : [];
  await promisify(execFile)(PROGRAM, [...keep, ...amount, ...mail, `127.0.0.1:${port}`]);
}
