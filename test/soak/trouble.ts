/** What goes wrong in a soak, one after the other, and what is done to a service that stays up. */
import { rmSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { expect, vi } from 'vitest';
import { createKey } from '../e2e/service.ts';
import type { Installation, RunningServer } from '../peers/server.ts';
import type { SmtpSink } from '../peers/smtp-sink.ts';
import { HANG, type SinkScript } from '../peers/smtp-sink-script.ts';
import type { Application } from './application.ts';

/** Where a soak takes place. */
export interface Place {
  readonly installation: Installation;
  readonly server: RunningServer;
  readonly sink: SmtpSink;
  readonly application: Application;
  /** The configuration that was there at first. */
  readonly configuration: string;
}

/** A fault: begins, is left alone for as long as it lasts, and is over when it resolves. */
type Fault = (place: Place, lastsMs: number) => Promise<void>;

/** Strangers who connect at once. */
const STRANGERS = 200;
/** How long the service may take to read its configuration. */
const PATIENCE_MS = 30_000;

/** Every fault there is, in the order in which they come. Nothing in them restarts the service. */
export const FAULTS: Readonly<Record<string, Fault>> = {
  'the next hop is not ready': weather({ CONNECT: () => ({ reply: '421 4.3.2 Not now', close: 'end' }) }),
  'the next hop is cut off': async (place, lastsMs) => {
    place.sink.cut();
    await weather({ CONNECT: () => ({ close: 'reset' }) })(place, lastsMs);
  },
  'the next hop puts recipients off': weather({ RCPT: () => '451 4.7.1 Not now' }),
  'the next hop puts messages off': weather({ DOT: () => '451 4.3.0 Not now' }),
  'the next hop vanishes after the dot': async (place, lastsMs) => {
    let dots = 0;
    await weather({ DOT: () => (++dots % 5 === 0 ? { close: 'reset' } : undefined) })(place, lastsMs);
  },
  'the next hop says nothing': async (place, lastsMs) => {
    await weather({ MAIL: () => HANG })(place, lastsMs);
    place.sink.cut();
  },
  'the process stands still': async ({ server }, lastsMs) => {
    server.signal('SIGSTOP');
    await pause(lastsMs);
    server.signal('SIGCONT');
  },
  'the configuration changes, and is wrong for a while': async (
    { installation, server, configuration },
    lastsMs,
  ) => {
    const becomes = async (text: string, event: string) => {
      const from = server.output.length;
      installation.configure(text);
      server.signal('SIGHUP');
      const told = () => expect(server.output.slice(from)).toContain(event);
      await vi.waitFor(told, { timeout: PATIENCE_MS, interval: 100 });
    };
    await becomes(`${configuration}limits: { max_queued_per_key: 999999 }\n`, 'config.applied');
    await pause(lastsMs / 2);
    await becomes('this: is wrong', 'config.fault');
    await pause(lastsMs / 2);
    await becomes(configuration, 'config.applied');
  },
  'strangers connect and stay': async ({ server }, lastsMs) => {
    const [smtp = 0] = server.runtime.smtp;
    const ports = [smtp, server.runtime.api ?? 0];
    const strangers = Array.from({ length: STRANGERS }, (_, nth) =>
      connect(ports[nth % ports.length] ?? 0, '127.0.0.1').on('error', () => {}),
    );
    await pause(lastsMs);
    for (const stranger of strangers) stranger.resetAndDestroy();
  },
  'noise comes in': async ({ server }, lastsMs) => {
    const [smtp = 0] = server.runtime.smtp;
    for (const port of [smtp, server.runtime.api ?? 0]) {
      const visitor = connect(port, '127.0.0.1').on('error', () => {});
      visitor.end(Buffer.alloc(100_000, 'noise\0\xff\r\n', 'latin1'));
    }
    await pause(lastsMs);
  },
  'the application puts events off': async ({ application }, lastsMs) => {
    application.putsOff = true;
    await pause(lastsMs);
    application.putsOff = false;
  },
  'a backup is made': async ({ installation }, lastsMs) => {
    const file = join(installation.dataDir, 'soak.backup');
    const { code, stderr } = await installation.run('backup', file);
    rmSync(file, { force: true });
    if (code !== 0) throw new Error(`backup: ${stderr}`);
    await pause(lastsMs);
  },
  'a key comes and goes': async ({ installation }, lastsMs) => {
    const name = `visitor-${Math.floor(performance.now())}`;
    await createKey(installation, name);
    await pause(lastsMs);
    const { code, stderr } = await installation.run('keys', 'revoke', name);
    if (code !== 0) throw new Error(`keys revoke: ${stderr}`);
  },
};

/** What the next hop does for as long as it lasts. */
function weather(script: SinkScript): Fault {
  return async ({ sink }, lastsMs) => {
    sink.script = script;
    await pause(lastsMs);
    sink.script = {};
  };
}
