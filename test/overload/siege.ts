/** The real server that delivers to a sink, a good client of it, and keys for those who are not. */
import { expect } from 'vitest';
import { LETTER } from '../crash/customer.ts';
import { createKey } from '../e2e/service.ts';
import { AS_INSTALLED, Installation, type RunningServer } from '../peers/server.ts';
import { type SmtpSink, startSmtpSink } from '../peers/smtp-sink.ts';
import { GoodClient } from './good-client.ts';
import { Vitals } from './vitals.ts';

/** What is not as it comes. Each is the inside of its section of the configuration. */
export interface SiegeSettings {
  readonly api?: string;
  readonly listener?: string;
  readonly limits?: string;
}

/** A password of the dashboard. */
export const PASSWORD = 'correct horse battery staple';

/** See the top of the file. */
export class Siege {
  readonly installation: Installation;
  readonly server: RunningServer;
  readonly sink: SmtpSink;
  readonly good: GoodClient;
  readonly vitals: Vitals;

  private constructor(installation: Installation, server: RunningServer, sink: SmtpSink, good: GoodClient) {
    this.installation = installation;
    this.server = server;
    this.sink = sink;
    this.good = good;
    this.vitals = new Vitals(server);
  }

  /** `under` goes before the server's command. */
  static async begin(settings: SiegeSettings = {}, under: readonly string[] = []): Promise<Siege> {
    const sink = await startSmtpSink({ keep: 'envelope' });
    const environment = { WAYBILL_ADMIN_PASSWORD: PASSWORD };
    const installation = new Installation(configurationOf(sink.port, settings), environment, AS_INSTALLED);
    const server = await installation.start(under);
    const good = new GoodClient(server, await keyOf(installation, 'good', 0));
    // The first ones leave the memory and the connections that work needs.
    await good.send(20);
    return new Siege(installation, server, sink, good);
  }

  /** A key; its rate of requests a minute, 0 for any. */
  key(name: string, rate: number): Promise<string> {
    return keyOf(this.installation, name, rate);
  }

  /** The port of SMTP. */
  get smtp(): number {
    return this.server.runtime.smtp[0] ?? 0;
  }

  /** Holds that the good client's messages are delivered, each once, and that the service is as it was. */
  async end(): Promise<void> {
    await this.good.untilDelivered();
    const letters = this.sink.messages.filter(({ from, taken }) => taken && from.includes(LETTER.from));
    const recipients = letters.reduce((sum, { to }) => sum + to.length, 0);
    expect(recipients).toBe(this.good.sent * LETTER.to.length);
    await this.vitals.recovered();
    await this.good.send(5);
  }

  /** Kills the server and removes everything. */
  async remove(): Promise<void> {
    this.good.leave();
    await this.server.end('SIGKILL');
    this.installation.remove();
    await this.sink.close();
  }

  /** Writes the configuration anew; what applies live applies. */
  async reconfigure(settings: SiegeSettings): Promise<void> {
    this.installation.configure(configurationOf(this.sink.port, settings));
    const applied = this.server.output.split('config.applied').length;
    this.server.signal('SIGHUP');
    await this.server.printed(new RegExp(`(config\\.applied[^]*){${applied}}`));
  }
}

function keyOf(installation: Installation, name: string, rate: number): Promise<string> {
  const scopes = ['messages:send', 'messages:read', 'messages:read_all', 'messages:content'];
  const given = scopes.flatMap((scope) => ['--scope', scope]);
  return createKey(installation, name, '--rate', String(rate), ...given);
}

function configurationOf(port: number, { api = '', listener = '', limits = '' }: SiegeSettings): string {
  const more = (settings: string) => settings && `, ${settings}`;
  return `
api: { port: 0, bind: ["127.0.0.1"]${more(api)} }
webui: { port: 0, bind: ["127.0.0.1"] }
listener: { ports: [0], bind: ["127.0.0.1"], allow_insecure_auth: true${more(listener)} }
limits: { ${limits} }
delivery: { default_relay: out }
relays: [{ name: out, type: smtp, host: 127.0.0.1, port: ${port}, tls: none }]
`;
}
