import { parseArgs } from 'node:util';
import { Connection } from './connection.ts';
import { Latencies } from './latencies.ts';

/**
 * The load: a process that posts one JSON message again and again over keep-alive connections, for a time or
 * until a number is reached, and prints a {@link LoadReport}. A process of its own, and as cheap as can be,
 * so that what it costs is the same for all it is pointed at.
 */
export interface LoadReport {
  /** Answers with status 202. */
  readonly accepted: number;
  /** Other answers, per status. */
  readonly refused: Readonly<Record<string, number>>;
  /** From the first request to the last answer. */
  readonly seconds: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
}

/** Bytes of the JSON body. */
const BODY_BYTES = 5120;

const { values } = parseArgs({
  options: {
    port: { type: 'string' },
    path: { type: 'string' },
    key: { type: 'string' },
    connections: { type: 'string' },
    seconds: { type: 'string', default: 'Infinity' },
    messages: { type: 'string', default: 'Infinity' },
  },
});

const limits = {
  connections: Number(values.connections),
  milliseconds: Number(values.seconds) * 1000,
  messages: Number(values.messages),
};

function request(): Buffer {
  const message = {
    from: 'Bench <sender@example.com>',
    to: ['recipient@example.net'],
    subject: 'A message to measure with',
    text: '',
  };
  const line = `${'The quick brown fox jumps over the lazy dog. '.repeat(2).slice(0, 76)}\n`;
  const room = BODY_BYTES - JSON.stringify(message).length;
  // A line feed takes two characters in JSON.
  message.text = line.repeat(Math.floor(room / (line.length + 1)));
  message.text += 'x'.repeat(BODY_BYTES - JSON.stringify(message).length);
  const body = JSON.stringify(message);
  const head = [
    `POST ${values.path} HTTP/1.1`,
    'Host: 127.0.0.1',
    `Authorization: Bearer ${values.key}`,
    'Content-Type: application/json',
    `Content-Length: ${body.length}`,
  ];
  return Buffer.from(`${head.join('\r\n')}\r\n\r\n${body}`);
}

async function run(): Promise<LoadReport> {
  const latencies = new Latencies();
  const refused: Record<string, number> = {};
  const begin = performance.now();
  let sent = 0;
  let accepted = 0;

  const one = (bytes: Buffer): Promise<void> =>
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
        if (status === 202) accepted++;
        else refused[status] = (refused[status] ?? 0) + 1;
        sentAt = now;
        return more();
      };
      const connection = new Connection(Number(values.port), bytes, onAnswer, (error) =>
        error === null ? resolve() : reject(error),
      );
      if (more()) connection.send();
    });

  const bytes = request();
  await Promise.all(Array.from({ length: limits.connections }, () => one(bytes)));
  return {
    accepted,
    refused,
    seconds: (performance.now() - begin) / 1000,
    p50Ms: latencies.quantile(0.5),
    p99Ms: latencies.quantile(0.99),
    maxMs: latencies.quantile(1),
  };
}

process.stdout.write(`${JSON.stringify(await run())}\n`);
