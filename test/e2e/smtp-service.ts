/** The real server with its SMTP listener, and a certificate that clients can verify. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { unwrap } from '../../src/client/result.ts';
import type { StatusRecord } from '../../src/client/types.ts';
import { createAuthority, createCertificate } from '../peers/certificate.ts';
import { Installation, type RunningServer } from '../peers/server.ts';
import { Client, createKey } from './service.ts';

/** See this file's comment. */
export class SmtpService {
  readonly installation: Installation;
  readonly server: RunningServer;
  /** File with the root that signed the server's certificate, which is for localhost and 127.0.0.1. */
  readonly ca: string;
  /** With a key that may see and read everything. */
  readonly reader: Client;

  constructor(installation: Installation, server: RunningServer, ca: string, reader: string) {
    this.installation = installation;
    this.server = server;
    this.ca = ca;
    this.reader = new Client(server, reader);
  }

  /** The port that offers STARTTLS. */
  get port(): number {
    return this.server.runtime.smtp[0] ?? 0;
  }

  /** The port that begins with TLS. */
  get tlsPort(): number {
    return this.server.runtime.smtpTls[0] ?? 0;
  }

  /** Makes a key, and a client of the API that has it. */
  async createClient(...args: readonly string[]): Promise<Client> {
    return new Client(this.server, await createKey(this.installation, ...args));
  }

  /** The message that a client was told to be queued: the id in the reply, and what is now known of it. */
  async accepted(transcript: string, client = this.reader): Promise<StatusRecord> {
    const id = queuedId(transcript);
    return unwrap(await client.api.get(id));
  }

  /** A message's content as it is kept. */
  async content(id: string): Promise<Buffer> {
    const answer = await this.reader.get(`/${id}/content`);
    if (answer.status !== 200) throw new Error(`${answer.status} ${await answer.text()}`);
    return Buffer.from(await answer.arrayBuffer());
  }

  /** Kills the server and removes everything. */
  async stop(): Promise<void> {
    await this.server.end('SIGKILL');
    this.installation.remove();
  }
}

/** Starts one. `listener` is more of the listener's settings, `more` whole sections of the configuration; `program` as in {@link Installation}. */
export async function startSmtpService(
  listener = '',
  more = '',
  program?: readonly string[],
): Promise<SmtpService> {
  const installation = new Installation('', {}, program);
  const inDirectory = (name: string) => join(installation.dataDir, name);
  const authority = createAuthority();
  const { key, cert } = createCertificate({ hosts: ['localhost', '127.0.0.1'], issuer: authority });
  writeFileSync(inDirectory('ca.pem'), authority.cert);
  writeFileSync(inDirectory('listener.pem'), cert);
  writeFileSync(inDirectory('listener.key'), key);
  installation.configure(`
api: { port: 0, bind: ["127.0.0.1"], rate_limit_per_key: 0, tls_enabled: true, tls_port: 0 }
webui: { port: 0, bind: ["127.0.0.1"] }
listener: { ports: [0], implicit_tls_ports: [0], bind: ["127.0.0.1"]${listener && `, ${listener}`} }
tls: { cert_file: ${inDirectory('listener.pem')}, key_file: ${inDirectory('listener.key')} }
${more}`);
  try {
    const server = await installation.start();
    const scopes = ['messages:read', 'messages:read_all', 'messages:content'];
    const reader = await createKey(installation, 'reader', ...scopes.flatMap((scope) => ['--scope', scope]));
    return new SmtpService(installation, server, inDirectory('ca.pem'), reader);
  } catch (error) {
    installation.remove();
    throw error;
  }
}

/** The id in the reply to a message that was accepted. */
export function queuedId(transcript: string): string {
  const [, id] = /queued as (msg_[0-9a-z]{26})/.exec(transcript) ?? [];
  if (id === undefined) throw new Error(`nothing was queued:\n${transcript}`);
  return id;
}

/** A content without the Received field that the server put before it. Throws unless there is one. */
export function withoutReceived(content: Buffer): Buffer {
  const text = content.toString('latin1');
  const field = /^Received: .*\r\n(?:[ \t].*\r\n)*/.exec(text);
  if (field === null) throw new Error(`no Received field is first:\n${text}`);
  return Buffer.from(text.slice(field[0].length), 'latin1');
}
