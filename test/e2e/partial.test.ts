/** A next hop that takes a message for some of its recipients: only those told to wait are tried again. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type SmtpSink, startSmtpSink } from '../peers/smtp-sink.ts';
import type { SinkEvent } from '../peers/smtp-sink-script.ts';
import { configurationFor, type Service, startService } from './service.ts';

let sink: SmtpSink;
let service: Service;

beforeAll(async () => {
  sink = await startSmtpSink();
  service = await startService(configurationFor(sink.port));
});

afterAll(async () => {
  await service?.stop();
  await sink.close();
});

/** How often a recipient was named to the next hop. */
const timesNamed = (recipient: string) =>
  sink.commands.filter(({ line }) => line.startsWith(`RCPT TO:<${recipient}>`)).length;

test('one ok, one 450, one 550: only the 450 is tried again, and nobody gets a second copy', async () => {
  const { client } = service;
  const answers: Record<string, string> = { later: '450 4.2.1 busy', never: '550 5.1.1 nobody here' };
  sink.script = { RCPT: ({ argument }: SinkEvent) => answers[/<(\w+)@/.exec(argument)?.[1] ?? ''] };
  const to = ['now@example.net', 'later@example.net', 'never@example.net'];
  const id = await client.send({ from: 'a@example.com', to, subject: 'Parts', text: 'x' });
  const waiting = await client.until(id, 'retrying');
  expect(waiting.recipients).toMatchObject([
    { address: 'now@example.net', status: 'delivered', lastCode: 250 },
    { address: 'later@example.net', status: 'retrying', lastCode: 450, lastEnhancedCode: '4.2.1' },
    { address: 'never@example.net', status: 'failed', outcome: 'rejected', lastCode: 550 },
  ]);
  await sink.until(() => timesNamed('later@example.net') >= 2);
  sink.script = {};
  const done = await client.end(id);
  expect(done).toMatchObject({ outcome: 'partial' });
  expect(done).not.toHaveProperty('possibleDuplicate');
  expect(done.recipients).toMatchObject([
    { status: 'delivered', attempts: 1 },
    { status: 'delivered', attempts: timesNamed('later@example.net') },
    { status: 'failed', attempts: 1 },
  ]);
  expect(timesNamed('now@example.net')).toBe(1);
  expect(timesNamed('never@example.net')).toBe(1);
  expect(sink.messages.map((message) => message.to)).toEqual([['now@example.net'], ['later@example.net']]);
});

test('recipients beyond what one transaction takes are offered in the next ones at once', async () => {
  const few = await startSmtpSink();
  let named = 0;
  few.script = {
    MAIL: () => {
      named = 0;
      return undefined;
    },
    RCPT: () => (++named > 2 ? '452 4.5.3 Too many recipients' : undefined),
  };
  const patient = await startService(
    configurationFor(few.port).replace(
      'retry_first_seconds: 1, retry_max_seconds: 1',
      'retry_first_seconds: 3600',
    ),
  );
  try {
    const to = ['a', 'b', 'c', 'd', 'e'].map((name) => `${name}@example.net`);
    const id = await patient.client.send({ from: 'a@example.com', to, subject: 'Many', text: 'x' });
    const done = await patient.client.end(id);
    expect(done).toMatchObject({ status: 'delivered' });
    expect(done.recipients.map(({ attempts }) => attempts)).toEqual([1, 1, 2, 2, 3]);
    expect(few.messages.map((message) => message.to.length)).toEqual([2, 2, 1]);
  } finally {
    await patient.stop();
    await few.close();
  }
});

test('greylisting costs time and nothing else', async () => {
  const { client } = service;
  const seen = new Set<string>();
  sink.script = {
    RCPT: ({ argument }: SinkEvent) => {
      if (seen.has(argument)) return undefined;
      seen.add(argument);
      return '451 4.7.1 greylisted, come back later';
    },
  };
  const before = sink.taken;
  const id = await client.send({
    from: 'a@example.com',
    to: ['grey@example.net'],
    subject: 'Grey',
    text: 'x',
  });
  const done = await client.end(id);
  expect(done).toMatchObject({ status: 'delivered', attempts: 2 });
  expect(sink.taken).toBe(before + 1);
});
