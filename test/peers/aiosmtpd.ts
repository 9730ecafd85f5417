import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createInterface, type Interface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import type { MailServer } from './mail-server.ts';
import { locate } from './need.ts';

/** The programs it needs. */
export const AIOSMTPD_PROGRAMS = ['aiosmtpd'];

const SERVER = fileURLToPath(new URL('./aiosmtpd_server.py', import.meta.url));

/** A message as `aiosmtpd_server.py` reports it. */
interface Report {
  readonly to: readonly string[];
  /** Base64. */
  readonly content: string;
}

/** Starts a server on aiosmtpd; resolves when it accepts connections. */
export async function startAiosmtpd(): Promise<MailServer> {
  const [program = '', ...args] = interpreter();
  const child = spawn(program, [...args, SERVER], { stdio: ['pipe', 'pipe', 'inherit'] });
  const lines = createInterface(child.stdout);
  const [port] = await once(lines, 'line');
  return new Aiosmtpd(child, lines, Number(port));
}

class Aiosmtpd implements MailServer {
  readonly port: number;
  readonly #child: ChildProcessByStdio<Writable, Readable, null>;
  readonly #reports: Report[] = [];
  readonly #news = new EventEmitter();

  constructor(child: ChildProcessByStdio<Writable, Readable, null>, lines: Interface, port: number) {
    this.port = port;
    this.#child = child;
    lines.on('line', (line) => {
      this.#reports.push(JSON.parse(line));
      this.#news.emit('report');
    });
  }

  async mailFor(recipient: string): Promise<Buffer> {
    for (;;) {
      const report = this.#reports.find(({ to }) => to.includes(recipient));
      if (report) return Buffer.from(report.content, 'base64');
      await once(this.#news, 'report');
    }
  }

  freeze(): void {
    this.#child.kill('SIGSTOP');
  }

  thaw(): void {
    this.#child.kill('SIGCONT');
  }

  async stop(): Promise<void> {
    const ended = once(this.#child, 'exit');
    this.#child.kill('SIGKILL');
    await ended;
  }
}

/** The Python that aiosmtpd is installed for: the first line of its own program says which. */
function interpreter(): string[] {
  const program = readFileSync(locate('aiosmtpd') ?? '', 'utf8');
  return (/^#! *(.+)$/m.exec(program)?.[1] ?? 'python3').split(' ');
}
