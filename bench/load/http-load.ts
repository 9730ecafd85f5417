import { parseArgs } from 'node:util';
import { Connection } from './connection.ts';
import { FORMS, httpBody } from './http-bodies.ts';
import { Latencies } from './latencies.ts';
import type { LoadReport } from './load-report.ts';
import { SHAPES, shapedRequest } from './provider-shapes.ts';

/**
 * The load: a process that posts one message again and again over keep-alive connections, for a time or until a
 * number is reached, and prints a {@link LoadReport}. A process of its own, and as cheap as can be, so that what
 * it costs is the same for all it is pointed at.
 */

const { values } = parseArgs({
  options: {
    port: { type: 'string' },
    path: { type: 'string' },
    key: { type: 'string' },
    connections: { type: 'string' },
    form: { type: 'string', default: 'json' },
    shape: { type: 'string' },
    'access-key': { type: 'string', default: '' },
    'signing-secret': { type: 'string', default: '' },
    bytes: { type: 'string', default: '5120' },
    tls: { type: 'boolean', default: false },
    seconds: { type: 'string', default: 'Infinity' },
    messages: { type: 'string', default: 'Infinity' },
  },
});

const server = { port: Number(values.port), tls: values.tls };
const limits = {
  connections: Number(values.connections),
  milliseconds: Number(values.seconds) * 1000,
  messages: Number(values.messages),
};

/** What is posted, and the status that says it was taken: our own API's, or a provider's. */
function request(): { readonly bytes: Buffer; readonly accepted: number } {
  const shape = SHAPES.find((name) => name === values.shape);
  if (shape !== undefined) {
    const keys = {
      key: values.key ?? '',
      accessKeyId: values['access-key'],
      secretAccessKey: values['signing-secret'],
    };
    const { path, headers, body, accepted } = shapedRequest(shape, Number(values.bytes), keys);
    return { bytes: written(path, headers, Buffer.from(body)), accepted };
  }
  const form = FORMS.find((name) => name === values.form) ?? 'json';
  const { type, bytes } = httpBody(form, Number(values.bytes));
  const headers = { Authorization: `Bearer ${values.key}`, 'Content-Type': type };
  return { bytes: written(values.path ?? '/', headers, bytes), accepted: 202 };
}

function written(path: string, headers: Readonly<Record<string, string>>, body: Buffer): Buffer {
  const fields = { Host: '127.0.0.1', ...headers, 'Content-Length': String(body.length) };
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}`);
  return Buffer.concat([Buffer.from(`POST ${path} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`), body]);
}

async function run(): Promise<LoadReport> {
  const latencies = new Latencies();
  const refused: Record<string, number> = {};
  const begin = performance.now();
  const { bytes, accepted: taken } = request();
  let sent = 0;
  let accepted = 0;

  const one = (): Promise<void> =>
    new Promise((resolve, reject) => {
      let sentAt = performance.now();
      const more = () => {
        if (sent >= limits.messages || sentAt - begin >= limits.milliseconds) return false;
        sent++;
        return true;
      };
      const onAnswer = (status: number) => {
        const now = performance.now();
        latencies.add(now - sentAt);
        if (status === taken) accepted++;
        else refused[status] = (refused[status] ?? 0) + 1;
        sentAt = now;
        return more();
      };
      const connection = new Connection(server, bytes, onAnswer, (error) =>
        error === null ? resolve() : reject(error),
      );
      if (more()) connection.send();
      else connection.end();
    });

  await Promise.all(Array.from({ length: limits.connections }, () => one()));
  return { accepted, refused, seconds: (performance.now() - begin) / 1000, ...latencies.summary() };
}

process.stdout.write(`${JSON.stringify(await run())}\n`);
