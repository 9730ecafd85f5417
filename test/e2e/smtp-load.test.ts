/** Many sessions with many messages each: all are accepted, and each is there once (contract §10). */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ask } from '../crash/customer.ts';
import { describeWith, locate } from '../peers/need.ts';
import { type SmtpService, startSmtpService } from './smtp-service.ts';

const SESSIONS = 20;
const MESSAGES = SESSIONS * 500;

describeWith(['smtp-source'], 'smtp-source', () => {
  let service: SmtpService;
  beforeAll(async () => {
    service = await startSmtpService();
  });
  afterAll(() => service.stop());

  test(`${SESSIONS} sessions hand in ${MESSAGES} messages: none is lost, none is there twice`, {
    timeout: 180_000,
  }, async () => {
    const load = ['-d', '-s', String(SESSIONS), '-m', String(MESSAGES), '-l', '5000'];
    const mail = ['-f', 'shop@example.com', '-t', 'to@example.net', `127.0.0.1:${service.port}`];
    // Ends with an error when anything is refused.
    await promisify(execFile)(locate('smtp-source') ?? '', [...load, ...mail]);

    const ids = new Set<string>();
    const letters = new Set<string>();
    for await (const message of service.reader.api.list({ all: true })) {
      ids.add(message.id);
      letters.add(message.messageId);
    }
    expect([ids.size, letters.size]).toEqual([MESSAGES, MESSAGES]);
    // Figures are a few seconds old.
    const metrics = async () => (await ask(service.server, '/metrics')).body;
    await expect.poll(metrics).toContain(`svc_messages_today{event="received"} ${MESSAGES}\n`);
    expect(await metrics()).toContain('svc_messages_today{event="denied"} 0\n');
  });
});
