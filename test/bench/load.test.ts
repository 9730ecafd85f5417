/** The loads of the benchmarks say what they sent, and nothing else. */
import { expect, test } from 'vitest';
import { httpBody } from '../../bench/load/http-bodies.ts';
import { Latencies } from '../../bench/load/latencies.ts';
import { SHAPES, shapedRequest } from '../../bench/load/provider-shapes.ts';
import { SmtpSession } from '../../bench/load/smtp-session.ts';
import { startSmtpSink } from '../peers/smtp-sink.ts';

test.each([
  ['json', 5120],
  ['multipart', 5120],
  ['multipart', 1_048_576],
] as const)('a %s body has the size asked for: %i', (form, size) => {
  expect(httpBody(form, size).bytes.length).toBe(size);
});

test.each(SHAPES)('in the shape of %s the message has the same text, and is for the same people', (shape) => {
  const keys = { key: 'wb', accessKeyId: 'WB', secretAccessKey: 's' };
  const { body } = shapedRequest(shape, 5120, keys);
  const { text, to, subject } = JSON.parse(httpBody('json', 5120).bytes.toString());
  for (const part of [JSON.stringify(text), JSON.stringify(to[0]), JSON.stringify(subject)])
    expect(body).toContain(part);
});

test('a quantile is the latency that so many did not exceed', () => {
  const latencies = new Latencies();
  for (let ms = 1; ms <= 100; ms++) latencies.add(ms - 0.005);
  expect(latencies.summary()).toMatchObject({ p50Ms: 50, p95Ms: 95, p99Ms: 99, maxMs: 100 });
});

test('a session sends one message after the other, and throws at a refusal', async () => {
  const sink = await startSmtpSink({
    script: { RCPT: ({ argument }) => (argument.includes('bad@') ? '550 5.1.1 no' : undefined) },
  });
  const session = await SmtpSession.open({ port: sink.port, tls: false });
  const content = Buffer.from('Subject: a\r\n\r\nb\r\n.\r\n');
  await session.send('a@example.com', 'b@example.net', content);
  await session.send('a@example.com', 'c@example.net', content);
  expect(sink.messages.map(({ to }) => to)).toEqual([['b@example.net'], ['c@example.net']]);
  await expect(session.send('a@example.com', 'bad@example.net', content)).rejects.toThrow('550 5.1.1 no');
  await sink.close();
});
