import { readFileSync } from 'node:fs';
import multipart from '@fastify/multipart';
import { Queue, Worker } from 'bullmq';
import Fastify from 'fastify';
import Redis from 'ioredis';
import nodemailer from 'nodemailer';

/**
 * The same work as many would write it: Fastify takes JSON or forms, BullMQ keeps them as jobs in Redis, nodemailer sends
 * them. Listens on the port given first, finds Redis at the socket given second, relays to the port given third over at
 * most 20 connections; with a fourth argument over TLS, by the key and certificate in those PEM files with `.key` and
 * `.crt` behind their name. Set up by who wants speed and gives up no safety: commands of one turn share a round trip, as
 * many jobs are worked on as there are connections and half as many again, and finished ones are removed.
 */
const [port, redis, relayPort, certificate] = process.argv.slice(2);
const QUEUE = 'mail';
const AUTHORIZATION = 'Bearer bench';
const CONNECTIONS = 20;
const LARGEST = 32 * 1024 * 1024;
const JOB = { attempts: 3, removeOnComplete: true };

const connect = () => new Redis(redis, { maxRetriesPerRequest: null, enableAutoPipelining: true });
const queue = new Queue(QUEUE, { connection: connect() });

const mailer = nodemailer.createTransport({
  ...{ host: '127.0.0.1', port: Number(relayPort), secure: false, ignoreTLS: true },
  ...{ pool: true, maxConnections: CONNECTIONS, maxMessages: Number.POSITIVE_INFINITY },
});
const worker = new Worker(QUEUE, async ({ data }) => (await mailer.sendMail(data)).messageId, {
  connection: connect(),
  concurrency: CONNECTIONS * 1.5,
});
worker.on('error', (error) => process.stderr.write(`${error.stack}\n`));

const MESSAGE = {
  type: 'object',
  required: ['from', 'to', 'subject', 'text'],
  properties: {
    from: { type: 'string' },
    to: { type: 'array', items: { type: 'string' } },
    subject: { type: 'string' },
    text: { type: 'string' },
  },
};
const tls = (ending) => readFileSync(`${certificate}.${ending}`);
const server = Fastify({
  bodyLimit: LARGEST,
  ...(certificate === undefined ? {} : { https: { key: tls('key'), cert: tls('crt') } }),
});
await server.register(multipart, { limits: { fileSize: LARGEST, fieldSize: LARGEST } });

async function accept(request, reply, message) {
  if (request.headers.authorization !== AUTHORIZATION) return reply.code(401).send();
  const { id } = await queue.add('send', message, JOB);
  return reply.code(202).send({ id, status: 'queued' });
}

/** The fields of a form, and its files in base64: a job is JSON. */
async function readForm(request) {
  const message = { attachments: [] };
  for await (const part of request.parts()) {
    if (part.type === 'file') {
      const content = (await part.toBuffer()).toString('base64');
      message.attachments.push({ filename: part.filename, content, encoding: 'base64' });
    } else message[part.fieldname] = part.value;
  }
  return message;
}

server.post('/messages', { schema: { body: MESSAGE } }, (request, reply) =>
  accept(request, reply, request.body),
);
server.post('/forms', async (request, reply) => accept(request, reply, await readForm(request)));
await queue.waitUntilReady();
await worker.waitUntilReady();
await server.listen({ host: '127.0.0.1', port: Number(port) });
