import Fastify from 'fastify';
import nodemailer from 'nodemailer';
import { PgBoss } from 'pg-boss';

/**
 * The same work as many would write it: Fastify takes JSON, pg-boss keeps it as a job in PostgreSQL, nodemailer sends it.
 * Listens on the port given first, keeps jobs in the database given second, relays to the port given third over at most
 * 20 connections. Set up by who wants speed and gives up no safety: jobs are fetched and settled in batches, workers are
 * woken, each job has its own result.
 */
const [port, database, relayPort] = process.argv.slice(2);
const QUEUE = 'mail';
const AUTHORIZATION = 'Bearer bench';

const boss = new PgBoss({ connectionString: database, max: 10, useListenNotify: true });
boss.on('error', (error) => process.stderr.write(`${error.stack}\n`));
await boss.start();
await boss.createQueue(QUEUE, { notify: true });

const mailer = nodemailer.createTransport({
  ...{ host: '127.0.0.1', port: Number(relayPort), secure: false, ignoreTLS: true },
  ...{ pool: true, maxConnections: 20, maxMessages: Number.POSITIVE_INFINITY },
});

async function deliver({ id, data }) {
  try {
    const { messageId } = await mailer.sendMail(data);
    return { id, status: 'completed', output: { messageId } };
  } catch (error) {
    return { id, status: 'failed', output: { message: error.message } };
  }
}
const options = { batchSize: 40, localConcurrency: 2, burstWhenBatchFull: true, perJobResults: true };
await boss.work(
  QUEUE,
  { ...options, pollingIntervalSeconds: 0.5, notifyPollingIntervalSeconds: 0.5 },
  (jobs) => Promise.all(jobs.map(deliver)),
);

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
const server = Fastify();
server.post('/messages', { schema: { body: MESSAGE } }, async (request, reply) => {
  if (request.headers.authorization !== AUTHORIZATION) return reply.code(401).send();
  const id = await boss.send(QUEUE, request.body);
  return reply.code(202).send({ id, status: 'queued' });
});
await server.listen({ host: '127.0.0.1', port: Number(port) });
