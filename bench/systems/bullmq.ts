import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { createCertificate } from '../../test/peers/certificate.ts';
import { freePort } from '../../test/peers/free-port.ts';
import { locate } from '../../test/peers/need.ts';
import { countFlushes, traced } from '../measure/flushes.ts';
import { together, usageOf } from '../measure/process-tree.ts';
import { startChild } from './child.ts';
import { PEERS, peersMissing } from './peers.ts';
import type { Poster, TakerOptions } from './system.ts';
import { until, untilListening } from './wait.ts';

const REDIS = locate('redis-server');
/** What `peers/bullmq.mjs` takes for a key. */
const KEY = 'bench';
const START_SECONDS = 30;

/** Why it cannot be measured here; null when it can. */
export function bullmqMissing(): string | null {
  return REDIS === null ? 'Redis is not installed' : peersMissing('bullmq');
}

/** Starts Fastify, BullMQ and nodemailer in one process over a Redis of their own that flushes every command. */
export async function startBullmq({ directory, relayPort, trace, tls }: TakerOptions): Promise<Poster> {
  const port = await freePort();
  const traceFile = path.join(directory, 'flushes.trace');
  const socket = path.join(directory, 'redis.sock');
  const data = path.join(directory, 'redis');
  await mkdir(data);
  const files = ['--dir', data, '--port', '0', '--unixsocket', socket, '--save', ''];
  const command = [REDIS ?? '', ...files, '--appendonly', 'yes', '--appendfsync', 'always'];
  const redis = await startChild(trace ? traced(command, traceFile) : command, {
    log: path.join(directory, 'redis.log'),
  });
  await until('Redis', START_SECONDS, () => (redis.output().includes('eady to accept') ? true : null));
  const certificate = path.join(directory, 'server');
  if (tls) {
    const { key, cert } = createCertificate({ hosts: ['127.0.0.1'] });
    await writeFile(`${certificate}.key`, key);
    await writeFile(`${certificate}.crt`, cert);
  }
  const args = [String(port), socket, String(relayPort), ...(tls ? [certificate] : [])];
  const child = await startChild([process.execPath, path.join(PEERS, 'bullmq.mjs'), ...args], {
    log: path.join(directory, 'bullmq.log'),
    env: { NODE_ENV: 'production' },
  });
  await untilListening(port);
  return {
    httpPort: port,
    paths: { json: '/messages', multipart: '/forms' },
    key: KEY,
    usage: () => together([usageOf(child.pid), usageOf(redis.pid)]),
    flushes: () => (trace ? countFlushes(traceFile) : Number.NaN),
    stop: async () => {
      await child.kill();
      await redis.kill();
    },
  };
}
